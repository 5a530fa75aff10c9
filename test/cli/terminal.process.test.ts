import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { serve } from '../support/file-server.ts';
import { observe, type Scene, startScene } from './support/run-process.ts';

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Runs the command in a pseudo-terminal of 24 lines and 80 columns, which is also its standard input. */
function startInTerminal(
  { env, folder }: Scene,
  args: readonly string[],
  extra: Record<string, string | undefined> = {},
) {
  const command = [process.execPath, join(process.cwd(), 'dist/cli.js'), ...args].map(quote).join(' ');
  const pidFile = join(folder, 'pid');
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

/** Starts a login in a terminal, and waits until it asks for the email. */
async function startAtPrompt() {
  const scene = await startScene();
  const terminal = startInTerminal(scene, ['login', '--base-url', scene.url], { AUDIENCE_TOKEN: undefined });
  await expect.poll(() => plain(terminal.printed.out)).toContain('Email');
  return terminal;
}

describe('in a terminal', () => {
  it('lists are aligned tables with a header; NO_COLOR and CLICOLOR=0 switch colours off', async () => {
    const scene = await startScene();
    for (const name of ['Short', '名前の長いオーディエンス']) await scene.json(['audiences', 'create', '--name', name]);
    const args = ['audiences', 'list', '--fields', 'name,status.name'];
    const { out } = await startInTerminal(scene, args).ended;
    expect(plain(out).trimEnd().split('\n')).toEqual([
      'NAME                      STATUS',
      '名前の長いオーディエンス  Completed',
      'Short                     Completed',
    ]);
    expect(out).toMatch(ESCAPES);
    for (const env of [{ NO_COLOR: '1' }, { CLICOLOR: '0' }, { TERM: 'dumb' }])
      expect((await startInTerminal(scene, args, env).ended).out).not.toMatch(ESCAPES);
    const forced = await scene.run(['audiences', 'get', '99'], { env: { CLICOLOR_FORCE: '1' } });
    expect(forced.err).toMatch(ESCAPES);
  });

  it('lists are cut at the width of the terminal, between the characters that people see', async () => {
    const scene = await startScene();
    const family = '👨‍👩‍👧';
    for (const name of ['Short', `${family}${'観'.repeat(60)}`, `${family.repeat(60)}`]) {
      await scene.json(['audiences', 'create', '--name', name]);
    }
    const { out } = await startInTerminal(scene, ['audiences', 'list', '--fields', 'id,name,status.name']).ended;
    const lines = plain(out).trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines.map((line) => stringWidth(line) <= 80)).toEqual([true, true, true, true]);
    expect(lines[1]).toMatch(new RegExp(`^\\d+ +(?:${family})+…  Completed$`));
    expect(lines[2]).toMatch(new RegExp(`^\\d+ +${family}観+… +Completed$`));
    expect(lines[3]).toMatch(/^\d+ +Short +Completed$/);
    const piped = await scene.run(['audiences', 'list', '--fields', 'name', '-n', '1']);
    expect(piped.out).toBe(`${family.repeat(60)}\n`);
  });

  it('explain prints its sentences in full', async () => {
    const scene = await startScene({ jobs: { outcome: 107 } });
    const [audience] = await scene.json(['audiences', 'create', '--name', 'x']);
    const { out } = await startInTerminal(scene, ['explain', String(audience?.id)]).ended;
    expect(plain(out)).toContain('assumed: only one at 104 can be activated');
    expect(out).not.toContain('…');
  });

  it.each([
    ['Ctrl-C', '\u0003', 130],
    ['an empty answer', '\r', 2],
  ])('%s at a prompt ends the command', async (_, keys, exitCode) => {
    const terminal = await startAtPrompt();
    terminal.type(keys);
    expect((await terminal.ended).code).toBe(exitCode);
  });

  it('SIGTERM at a prompt ends the command by the signal', async () => {
    const terminal = await startAtPrompt();
    terminal.kill('SIGTERM');
    const { code, out } = await terminal.ended;
    expect({ code, text: plain(out) }).toEqual({ code: 143, text: expect.stringContaining('error: Interrupted.\n') });
  });

  it.each([
    ['a password', ['login', '--email', 'ann@example.com'], 'Password of ann@example.com'],
    ['an email', ['login'], 'Email'],
    ['a confirmation', ['check', '--write'], 'Continue?'],
  ])('the deadline at the prompt of %s ends the command', async (_, args, prompt) => {
    const scene = await startScene();
    const env = args[0] === 'login' ? { AUDIENCE_TOKEN: undefined } : {};
    const { code, out } = await startInTerminal(scene, [...args, '--deadline', '1500ms'], env).ended;
    expect(plain(out)).toContain(prompt);
    expect({ code, text: plain(out) }).toEqual({
      code: 1,
      text: expect.stringContaining('error: The command took longer than 1.5 s (--deadline).\n'),
    });
  });

  it('Ctrl-D at a prompt cancels the command', async () => {
    const terminal = await startAtPrompt();
    terminal.type('\u0004');
    const { code, out } = await terminal.ended;
    expect({ code, text: plain(out) }).toMatchObject({ code: 130, text: expect.stringContaining('error: Cancelled.') });
  });

  it('wait redraws a line for each job, and ends with a table', async () => {
    const scene = await startScene({ jobs: { duration: 3_600_000 } });
    const ids = [];
    for (const name of ['a', 'b']) ids.push(Number((await scene.json(['audiences', 'create', '--name', name]))[0]?.id));
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

  it('check shows its steps, and says first what the report means, in lines of 80 columns', async () => {
    const scene = await startScene();
    const { code, out } = await startInTerminal(scene, ['check']).ended;
    expect(code).toBe(0);
    expect(plain(out)).toMatch(/^List of audiences$/m);
    expect(plain(out)).toMatch(
      /^Nothing differs\. \d+ assumptions need --write, creates among them\.$[\s\S]+^Next: --write[\s\S]+^\d+ confirmed, \d+ likely/m,
    );
    expect(plain(out)).toMatch(/^\d+ reads and 0 writes were sent\. --all prints each assumption\.$/m);
    const lines = plain(out).split('\n');
    expect(lines.filter((line) => line.trimEnd().length > 80)).toEqual([]);
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

  it('wait draws the running jobs when there are more jobs than lines', async () => {
    const limits = { write: { limit: 1_000, interval: 60_000 } };
    const scene = await startScene({ jobs: { duration: ({ id }) => (id % 40 === 0 ? 3_600_000 : 0) }, limits });
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${scene.env.AUDIENCE_TOKEN}`,
    };
    const create = async (): Promise<number> => {
      const init = { method: 'POST', headers, body: '{"name":"x"}' };
      return (await (await fetch(`${scene.url}/api/v2/audiences/create`, init)).json()).data[0].id;
    };
    const ids = [];
    for (let count = 0; count < 40; count++) ids.push(await create());
    const { printed, type, ended } = startInTerminal(scene, ['wait', ...ids.map(String)]);
    await expect.poll(() => plain(printed.out)).toContain('39 of 40 ended');
    const frames = plain(printed.out).split(' of 40 ended');
    for (const frame of frames) expect(frame.match(/^audience:/gm)?.length ?? 0).toBeLessThanOrEqual(22);
    expect(frames.at(-2)).toMatch(/100 Queued/);
    type('\u0003');
    expect((await ended).code).toBe(130);
  });

  it('wait without jobs is wrong usage', async () => {
    const { code, out } = await startInTerminal(await startScene(), ['wait']).ended;
    expect({ code, out: plain(out) }).toEqual({ code: 2, out: expect.stringContaining('Name the jobs to wait for') });
  });

  it('Ctrl-C ends a wait with the command that resumes', async () => {
    const scene = await startScene({ jobs: { duration: 3_600_000 } });
    const [audience] = await scene.json(['audiences', 'create', '--name', 'a']);
    const { printed, type, ended } = startInTerminal(scene, ['wait', String(audience?.id)]);
    await expect.poll(() => plain(printed.out)).toContain('100 Queued');
    type('\u0003');
    const { code, out } = await ended;
    expect(code).toBe(130);
    expect(plain(out)).toContain(
      `error: Interrupted.\n  To continue: audience-activation wait audience:${audience?.id}\n`,
    );
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

  it('a cancelled prompt ends with 130, and keeps nothing', async () => {
    const scene = await startScene();
    const { printed, type, ended } = startInTerminal(scene, ['tokens', 'revoke', '--email', 'ann@example.com']);
    await expect.poll(() => plain(printed.out)).toContain('Password');
    type('\u0003');
    expect((await ended).code).toBe(130);
    expect(scene.account.tokens()).toHaveLength(1);
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

  it('every command that needs nobody at the keyboard runs', async () => {
    const scene = await startScene();
    await writeFile(join(scene.folder, 'a.csv'), 'id\n1\n');
    const [audience] = await scene.json(['audiences', 'create', '--name', 'a']);
    const [activation] = await scene.json(['activations', 'create', '--audience-id', String(audience?.id)]);
    const receiver = await serve((request, response) => void request.resume().on('end', () => response.end()));
    const id = String(audience?.id);
    const to = ['--forward-to', receiver.url, '--secret', 'whsec_1'];
    const commands: readonly (readonly [readonly string[], RegExp])[] = [
      [['audiences', 'create', '--name', 'b'], /^name {2,}b$/m],
      [['audiences', 'get', id], /^name {2,}a$/m],
      [['lookalikes', 'create', '--source-audience-id', id, '--target-size', '9'], /^is_lookalike {2,}true$/m],
      [['estimates', 'create', '--name', 'e'], /^status\.id {2,}\d+$/m],
      [['projects', 'create', '--name', 'p'], /^name {2,}p$/m],
      [['schedules', 'create', '--name', 's'], /^name {2,}s$/m],
      [['cohorts', 'import', 'a.csv'], /^name {2,}a\.csv$/m],
      [['activations', 'list'], /^ID {2,}DESCRIPTION {2,}AUDIENCE {2,}STATUS/m],
      [['activations', 'download', String(activation?.id), 'out'], /^PATH {2,}SIZE$/m],
      [['explain', id], /Activation of audience \d+ is allowed\./],
      [['reference', 'web', 'domains', '--limit', '1'], /^ID {2,}NAME$/m],
      [['usage'], /^build_budget\.hour\.limit {2,}60$/m],
      [['budget'], /^hour\.left {2,}\d+$/m],
      [['webhooks', 'list'], /No webhook endpoints\./],
      [['request', 'GET', '/api/v2/webhooks/index'], /^\[\]$/m],
      [['listen', ...to, '--jobs', id], /audience\.completed/],
      [['trigger', 'webhook.test', ...to], /^result {2,}200$/m],
      [['whoami'], /^token_from {2,}AUDIENCE_TOKEN$/m],
      [['logout'], /is not logged in\./],
      [['completion', 'bash'], /complete/],
      [['audiences', 'delete', id], /: deleted\./],
    ];
    for (const [args, expected] of commands) {
      const { code, out } = await startInTerminal(scene, args).ended;
      expect({ args, code, out: plain(out) }).toEqual({ args, code: 0, out: expect.stringMatching(expected) });
    }
  });
});
