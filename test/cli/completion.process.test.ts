import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Scene, startScene } from './support/run-process.ts';

/** Returns the words that the command offers for the last of some words. */
async function offered({ run }: Scene, words: readonly string[]): Promise<(string | undefined)[]> {
  const { code, out, err } = await run(['complete', '--', ...words]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(':'))
    .map((line) => line.split('\t')[0]);
}

/** Words, and what the command offers for the last of them. */
const OFFERS = [
  ['wai', ['wait']],
  ['lookalikes create --targ', ['--target-size']],
  ['audiences list --qui', ['--quiet']],
  ['trigger cohort.', ['cohort.completed', 'cohort.failed']],
  ['wait aud', ['audience:']],
  ['--profile ', ['eve', 'prod']],
  ['profiles use ', ['eve', 'prod']],
  ['--contract serv', ['service.json']],
  ['cohorts import data/c', ['data/customers.csv']],
] as const;

describe('completion', () => {
  it('offers commands, flags, values, kinds, and profiles and files that exist', async () => {
    const scene = await startScene();
    for (const path of [
      'config/profiles/eve.json',
      'config/profiles/prod.json',
      'config/oauth/eve.json',
      'service.json',
      'data/customers.csv',
    ]) {
      await mkdir(join(scene.folder, path, '..'), { recursive: true });
      await writeFile(join(scene.folder, path), '{}');
    }
    const offers = OFFERS.map(async ([words]) => [words, await offered(scene, words.split(' '))]);
    expect(await Promise.all(offers)).toEqual(OFFERS);
  });

  it('prints a script for zsh, fish and powershell, and refuses other shells', async () => {
    const { run } = await startScene();
    const script = { code: 0, err: '', out: expect.stringMatching(/audience-activation complete '?--/) };
    const shells = ['zsh', 'fish', 'powershell'];
    expect(await Promise.all(shells.map((shell) => run(['completion', shell])))).toEqual(shells.map(() => script));
    const refused = { code: 2, err: expect.stringContaining('Allowed choices') };
    expect(await run(['completion', 'tcsh'])).toMatchObject(refused);
  });

  it('can be sourced twice in bash, and for both names', async () => {
    const { folder, env } = await startScene();
    await symlink(process.execPath, join(folder, 'node'));
    for (const name of ['aud', 'audience-activation'])
      await symlink(join(process.cwd(), 'dist/cli.js'), join(folder, name));
    const script = `
      for name in aud aud audience-activation; do source <($name completion bash); done
      complete -p aud audience-activation; type -t readonly`;
    const options = { env: { ...env, PATH: `${folder}:${env.PATH}` }, cwd: folder };
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], options);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^complete .* aud\ncomplete .* audience-activation\nbuiltin\n$/);
  });

  it('works in bash, with the functions of bash-completion', async () => {
    const { folder, env } = await startScene();
    await symlink(process.execPath, join(folder, 'node'));
    await symlink(join(process.cwd(), 'dist/cli.js'), join(folder, 'aud'));
    const script = `
      _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; }
      compopt() { :; }
      source <(aud completion bash)
      COMP_WORDS=(aud audiences de); COMP_CWORD=2
      $(complete -p aud | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const options = { env: { ...env, PATH: `${folder}:${env.PATH}` }, cwd: folder };
    const { stdout } = await promisify(execFile)('bash', ['-c', script], options);
    expect(stdout.trim().split('\n')).toEqual(['delete']);
  });
});
