import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { observe, type Scene, startScene } from '../support/run-process.ts';

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Runs the command in a pseudo-terminal of 24 lines and 80 columns, which is also its standard input. */
function startInTerminal(
  { env, folder }: Scene,
  args: readonly string[],
  extra: Record<string, string | undefined> = {},
) {
  const command = [process.execPath, join(process.cwd(), 'dist/cli.js'), ...args].map(quote).join(' ');
  const pidFile = join(folder, `pid-${randomUUID()}`);
  const script = `stty rows 24 cols 80; echo $$ > ${quote(pidFile)}; exec ${command}`;
  const child = spawn('script', ['-qec', script, '/dev/null'], {
    cwd: folder,
    env: { TERM: 'xterm-256color', SHELL: '/bin/sh', ...env, ...extra },
  });
  // The terminal stays open: `observe` would end its input.
  const { printed, ended } = observe(Object.assign(child, { stdin: null }));
  return {
    printed,
    ended,
    type: (text: string) => child.stdio[0]?.write(text),
    kill: (signal: NodeJS.Signals) => process.kill(Number(readFileSync(pidFile, 'utf8')), signal),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that terminals interpret
const ESCAPES = /\u001b\[[\d;?]*[A-Za-z]/g;
const plain = (text: string): string => text.replace(ESCAPES, '').replaceAll('\r', '');

describe('in a terminal', () => {
  it('a list is a table of its width, in colours', async () => {
    const scene = await startScene();
    const family = '👨‍👩‍👧';
    for (const name of ['名前の長いオーディエンス', family.repeat(60)]) await scene.client.audiences.create({ name });
    const args = ['audiences', 'list', '--fields', 'name,status.name'];
    const { out } = await startInTerminal(scene, args).ended;
    expect(out).toMatch(ESCAPES);
    const lines = plain(out).trimEnd().split('\n');
    expect(lines[0]).toMatch(/^NAME +STATUS$/);
    expect(lines[1]).toMatch(new RegExp(`^(?:${family})+… +Completed$`));
    expect(lines.map((line) => stringWidth(line) <= 80)).toEqual([true, true, true]);
  });

  it('Ctrl-C, Ctrl-D, an empty answer and SIGTERM at a prompt end the command, and nothing is kept', async () => {
    const scene = await startScene();
    const atPrompt = async (prompt: string, ...args: string[]) => {
      const env = args[0] === 'login' ? { AUDIENCE_TOKEN: undefined } : {};
      const terminal = startInTerminal(scene, args, env);
      await eventually(() => expect(plain(terminal.printed.out)).toContain(prompt));
      return terminal;
    };
    const login = ['login', '--base-url', scene.url];
    const ends: readonly (readonly [prompt: string, args: readonly string[], keys: string | undefined, end: object])[] =
      [
        ['Email', login, '\u0003', { code: 130 }],
        ['Password', ['tokens', 'revoke', '--email', 'ann@example.com'], '\u0003', { code: 130 }],
        ['Email', login, '\u0004', { code: 130, out: expect.stringContaining('error: Cancelled.') }],
        ['Email', login, '\r', { code: 2 }],
        ['Email', login, undefined, { code: 143, out: expect.stringContaining('error: Interrupted.') }],
      ];
    await Promise.all(
      ends.map(async ([prompt, args, keys, end]) => {
        const terminal = await atPrompt(prompt, ...args);
        if (keys === undefined) terminal.kill('SIGTERM');
        else terminal.type(keys);
        const { code, out } = await terminal.ended;
        expect({ keys, code, out: plain(out) }).toMatchObject({ keys, ...end });
      }),
    );
    expect(scene.account.tokens()).toHaveLength(1);
  });

  it('the deadline ends a command that asks', async () => {
    const scene = await startScene();
    const commands = [['login', '--email', 'ann@example.com'], ['login'], ['check', '--write']];
    const ended = commands.map(async (args) => {
      const env = args[0] === 'login' ? { AUDIENCE_TOKEN: undefined } : {};
      const { code, out } = await startInTerminal(scene, [...args, '--deadline', '2s'], env).ended;
      return { code, text: plain(out) };
    });
    const text = expect.stringContaining('error: The command took longer than 2 s (--deadline).\n');
    expect(await Promise.all(ended)).toEqual(commands.map(() => ({ code: 1, text })));
  });

  it('wait redraws a line for each job, and ends with a table', async () => {
    const scene = await startScene({ jobs: { duration: 3_600_000 } });
    const ids: number[] = [];
    for (const name of ['a', 'b']) ids.push((await scene.client.audiences.create({ name })).id);
    const { printed, ended } = startInTerminal(scene, ['wait', ...ids.map(String)]);
    await expect.poll(() => plain(printed.out)).toContain(`audience:${ids[1]}  100 Queued\n0 of 2 ended, 0:0`);
    for (const id of ids) scene.sandbox.jobs.finish('audience', id, 104);
    const { code, out } = await ended;
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: moves the cursor up, to draw again
    expect(out).toMatch(/\u001b\[\d*A/);
    expect(plain(out)).toContain(
      [
        'KIND      ID  PHASE      STATUS.ID  STATUS     NAME',
        `audience  ${ids[0]}   completed  104        Completed  a`,
        `audience  ${ids[1]}   completed  104        Completed  b`,
      ].join('\n'),
    );
  });

  it('check asks before it writes, and says what it would do', async () => {
    const scene = await startScene();
    const refused = startInTerminal(scene, ['check', '--write']);
    await expect.poll(() => plain(refused.printed.out)).toContain('creates and deletes one project');
    refused.type('n');
    expect(plain((await refused.ended).out)).toContain('Cancelled: nothing was sent.');
    expect(scene.sandbox.log).toEqual([]);
    const accepted = startInTerminal(scene, ['check', '--write', '--all']);
    await expect.poll(() => plain(accepted.printed.out)).toContain('Continue?');
    accepted.type('y');
    const { code, out } = await accepted.ended;
    expect({ code, out: plain(out) }).toMatchObject({ code: 0, out: expect.stringContaining('path:projects.delete') });
    expect(scene.sandbox.log.some(({ path }) => path.endsWith('/delete'))).toBe(true);
  });

  it('wait draws the running jobs when there are more jobs than lines; Ctrl-C prints the command that resumes', async () => {
    const limits = { write: { limit: 1_000, interval: 60_000 } };
    const scene = await startScene({ jobs: { duration: ({ id }) => (id % 40 === 0 ? 3_600_000 : 0) }, limits });
    const ids: number[] = [];
    for (let count = 0; count < 40; count++) ids.push((await scene.client.audiences.create({ name: 'x' })).id);
    const { printed, type, ended } = startInTerminal(scene, ['wait', ...ids.map(String)]);
    await expect.poll(() => plain(printed.out)).toContain('39 of 40 ended');
    const frames = plain(printed.out).split(' of 40 ended');
    for (const frame of frames) expect(frame.match(/^audience:/gm)?.length ?? 0).toBeLessThanOrEqual(22);
    expect(frames.at(-2)).toMatch(/100 Queued/);
    type('\u0003');
    const { code, out } = await ended;
    expect(code).toBe(130);
    expect(plain(out)).toMatch(/error: Interrupted\.\n {2}To continue: audience-activation wait audience:\d+\n/);
  });

  it('login asks for the password without showing it', async () => {
    const scene = await startScene();
    const env = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };
    const args = ['login', '--base-url', scene.url];
    const { printed, type, ended } = startInTerminal(scene, args, env);
    await expect.poll(() => plain(printed.out)).toContain('Email');
    type('ann@example.com\r');
    await expect.poll(() => plain(printed.out)).toContain('Password of ann@example.com');
    type('a secret password\r');
    const { code, out } = await ended;
    expect({ code, out: plain(out) }).toEqual({
      code: 0,
      out: expect.stringContaining('Logged in as ann@example.com'),
    });
    expect(out).not.toContain('secret');
    expect((await stat(join(scene.folder, 'config/profiles/default.json'))).mode & 0o777).toBe(0o600);
  });

  it('an import draws a progress bar', async () => {
    const scene = await startScene();
    await writeFile(join(scene.folder, 'customers.csv'), `email\n${'someone@example.com\n'.repeat(200_000)}`);
    const { code, out } = await startInTerminal(scene, ['cohorts', 'import', 'customers.csv', '--wait']).ended;
    expect(code).toBe(0);
    expect(plain(out)).toMatch(/█{24} 3\.8 MiB of 3\.8 MiB {2}customers\.csv/);
  });

  it('standard output in a file holds data only', async () => {
    const scene = await startScene();
    const command = `${quote(process.execPath)} ${quote(join(process.cwd(), 'dist/cli.js'))} audiences create --name x --wait --json > out.json`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: scene.folder,
      env: { SHELL: '/bin/sh', ...scene.env },
    });
    expect((await observe(child).ended).code).toBe(0);
    expect(JSON.parse(await readFile(join(scene.folder, 'out.json'), 'utf8'))).toMatchObject({
      name: 'x',
      status: { id: 104 },
    });
  });
});
