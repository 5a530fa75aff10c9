import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { COMMAND, observe, type Scene, startScene } from './support/run-process.ts';
import { linesOf } from './support/scene.ts';

const SHELL_COMMAND = `"${process.execPath}" "${COMMAND}"`;

/** Runs a script by a shell in its own process group, as a terminal does. */
function startShell(shell: string, script: string, { env, folder }: Scene) {
  const child = spawn(shell, ['-c', script], { env, cwd: folder, detached: true });
  const pressCtrlC = (): void => void process.kill(-(child.pid ?? 0), 'SIGINT');
  return { ...observe(child), pressCtrlC };
}

/** Creates an audience whose job runs, and returns its id. */
const runningAudience = async ({ client }: Scene): Promise<number> => (await client.audiences.create({ name: 'x' })).id;

const CREATE = ['audiences', 'create', '--name', 'x'] as const;
const RUNNING = { jobs: { duration: 3_600_000 } };

/** Debian's sh is dash. A machine may lack zsh, CI may not. */
const SHELLS = ['bash', 'sh', ...(process.env.CI === 'true' || existsSync('/usr/bin/zsh') ? ['zsh'] : [])];

/** Scripts around a wait, none of which may go on after Ctrl-C. */
const SCRIPTS = [
  (id: number) => `for round in 1 2 3; do echo "round $round"; ${SHELL_COMMAND} wait ${id}; done; echo after`,
  (id: number) => `while echo round 1; do ${SHELL_COMMAND} wait ${id} --json | cat; done; echo after`,
  (id: number) => `echo round 1; ${SHELL_COMMAND} wait ${id} || echo failed; echo after`,
];

it.each(SHELLS)('Ctrl-C in %s ends the loop, the pipeline and the condition around a wait', async (shell) => {
  const scene = await startScene(RUNNING);
  const id = await runningAudience(scene);
  const ends = SCRIPTS.map(async (scriptOf) => {
    const { printed, pressCtrlC, ended } = startShell(shell, scriptOf(id), scene);
    await eventually(() => expect(printed.out + printed.err).toMatch(/100 Queued|"running"/));
    pressCtrlC();
    const { code, out, err } = await ended;
    expect(err).toMatch(/"resume":"audience-activation wait|To continue: audience-activation wait/);
    return { code, rounds: out.match(/round \d|after|failed/g) };
  });
  expect(await Promise.all(ends)).toEqual(SCRIPTS.map(() => ({ code: 'SIGINT', rounds: ['round 1'] })));
});

it('a shell shows 130 after SIGINT, and 143 after SIGTERM', async () => {
  const scene = await startScene(RUNNING);
  const id = await runningAudience(scene);
  // Without job control, shells start background processes that ignore SIGINT.
  const script = `set -m; ${SHELL_COMMAND} wait ${id} --json & echo "pid $!"; wait $!; echo "status $?"`;
  const statusAfter = async (signal: NodeJS.Signals): Promise<string | undefined> => {
    const { printed, ended } = startShell('bash', script, scene);
    await eventually(() => expect(printed.out).toContain('"running"'));
    process.kill(Number(/pid (\d+)/.exec(printed.out)?.[1]), signal);
    return /^status (\d+)$/m.exec((await ended).out)?.[1];
  };
  expect(await Promise.all([statusAfter('SIGINT'), statusAfter('SIGTERM')])).toEqual(['130', '143']);
});

it('Ctrl-C prints the command that resumes a wait, and ends the process by its signal', async () => {
  const scene = await startScene(RUNNING);
  const ids = [await runningAudience(scene), await runningAudience(scene)];
  const waiting = scene.start(['wait', '--timeout', '2h', ...ids.map(String)]);
  await eventually(() => expect(waiting.printed.err.match(/100 Queued/g)).toHaveLength(2));
  waiting.child.kill('SIGINT');
  const { code, err } = await waiting.ended;
  const resume = `audience-activation wait ${ids.map((id) => `audience:${id}`).join(' ')} --timeout 7200s`;
  expect({ code, err: err.split('\n').slice(2) }).toEqual({
    code: 'SIGINT',
    err: ['error: Interrupted.', `  To continue: ${resume}`, ''],
  });
  const json = scene.start(['wait', String(ids[0]), '--json']);
  await eventually(() => expect(json.printed.out).toContain('"running"'));
  json.child.kill('SIGTERM');
  const ended = await json.ended;
  expect(ended.code).toBe('SIGTERM');
  expect(JSON.parse(ended.err)).toMatchObject({
    code: 'interrupted',
    exitCode: 143,
    resume: `audience-activation wait audience:${ids[0]}`,
  });
});

it('Ctrl-C ends a create whose token command still runs, before anything is sent', async () => {
  const { start, sandbox } = await startScene();
  const tokenCommand = 'trap "" TERM; echo waiting >&2; sleep 60';
  const { child, printed } = start([...CREATE, '--json', '--token-command', tokenCommand]);
  await eventually(() => expect(printed.err).toContain('waiting'));
  child.kill('SIGINT');
  await eventually(() => expect(child.signalCode).toBe('SIGINT'));
  expect(linesOf(printed.err.replace('waiting\n', ''))).toEqual([
    { code: 'interrupted', message: 'Interrupted.', exitCode: 130 },
  ]);
  expect(sandbox.log).toEqual([]);
});
