import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFilesBelow } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { startScene } from '../support/run-command.ts';

const ROW = '{"key":"north","name":"North"}\n';

/** Starts a scene with a file of one row, and a pipe without a writer. */
async function startPipe(name = 'pipe') {
  const scene = await startScene();
  const [rows, pipe] = [join(scene.folder, 'rows.jsonl'), join(scene.folder, name)];
  await writeFile(rows, ROW);
  execFileSync('mkfifo', [pipe]);
  return { ...scene, rows, pipe };
}

it('aud run reads rows, and create its body, from a named pipe', async () => {
  const { start, pipe, json } = await startPipe();
  const running = start(['run', pipe]);
  await writeFile(pipe, ROW);
  expect((await running.ended).code).toBe(0);
  const creating = start(['audiences', 'create', '--data', `@${pipe}`]);
  await writeFile(pipe, '{"name":"South"}');
  expect((await creating.ended).code).toBe(0);
  const names = (await json(['audiences', 'list'])).map(({ name }) => name);
  expect(names.sort()).toEqual(['North', 'South']);
});

it.each([
  ['rows', (pipe: string) => ['run', pipe]],
  ['a body', (pipe: string) => ['audiences', 'create', '--data', `@${pipe}`]],
  ['a contract', (pipe: string) => ['audiences', 'list', '--contract', pipe]],
])('Ctrl-C ends a command that waits for the writer of a pipe with %s', async (_, argsOf) => {
  const { start, pipe, folder, time } = await startPipe();
  const running = start(argsOf(pipe));
  await time.until(eventually(async () => expect(await openFilesBelow(folder)).toContain(pipe)));
  running.interrupt();
  expect(await running.ended).toMatchObject({ code: 130, err: expect.stringContaining('error: Interrupted.') });
});

it.each<[string, string, (pipe: string, rows: string) => readonly string[], number]>([
  ['the journal of a run', 'pipe', (pipe, rows) => ['run', rows, '--journal', pipe], 8],
  ['the journal of --status', 'pipe', (pipe, rows) => ['run', rows, '--journal', pipe, '--status'], 8],
  ['--report', 'pipe.csv', (pipe, rows) => ['run', rows, '--report', pipe], 2],
  ['--out of check', 'pipe', (pipe) => ['check', '--out', pipe], 1],
  ['the state of a sandbox', 'pipe', (pipe) => ['sandbox', '--state', pipe], 2],
])('the command refuses a pipe as %s, and sends nothing', async (_, name, argsOf, exitCode) => {
  const { run, pipe, rows, sandbox } = await startPipe(name);
  const { code, err } = await run(argsOf(pipe, rows));
  expect([code, err]).toEqual([exitCode, expect.stringMatching(/regular file/)]);
  expect(sandbox.log).toEqual([]);
});
