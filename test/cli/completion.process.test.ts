import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startScene } from './support/run-process.ts';

/** Returns the words that the command offers for the last of some words. */
async function offered(words: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const { run, folder } = await startScene();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const { code, out, err } = await run(['complete', '--', ...words]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(':'))
    .map((line) => line.split('\t')[0]);
}

describe('completion', () => {
  it('offers commands, flags and values', async () => {
    expect(await offered(['wai'])).toEqual(['wait']);
    expect(await offered(['audiences', 'cr'])).toEqual(['create']);
    expect(await offered(['lookalikes', 'create', '--targ'])).toEqual(['--target-size']);
    expect(await offered(['wait', '--kind', 'co'])).toEqual(['cohort']);
    expect(await offered(['audiences', 'delete', '--dry'])).toEqual(['--dry-run']);
    expect(await offered(['--qui'])).toEqual(['--quiet']);
    expect(await offered(['audiences', 'list', '--qui'])).toEqual(['--quiet']);
    expect(await offered(['trigger', 'cohort.'])).toEqual(['cohort.completed', 'cohort.failed']);
  });

  it('offers kinds, profiles and files that exist', async () => {
    expect(await offered(['wait', 'aud'])).toEqual(['audience:']);
    const profiles = {
      'config/profiles/eve.json': '{}',
      'config/profiles/prod.json': '{}',
      'config/oauth/eve.json': '',
    };
    expect(await offered(['--profile', ''], profiles)).toEqual(['eve', 'prod']);
    expect(await offered(['profiles', 'use', ''], profiles)).toEqual(['eve', 'prod']);
    expect(await offered(['--requ'])).toEqual(['--request-timeout']);
    expect(await offered(['--contract', 'serv'], { 'service.json': '{}' })).toEqual(['service.json']);
    expect(await offered(['cohorts', 'import', 'data/c'], { 'data/customers.csv': '' })).toEqual([
      'data/customers.csv',
    ]);
  });

  it.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async (shell) => {
    const { run } = await startScene();
    const { code, out, err } = await run(['completion', shell]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/audience-activation complete '?--/);
  });

  it('for another shell is wrong usage', async () => {
    const { run } = await startScene();
    expect(await run(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Allowed choices'),
    });
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
