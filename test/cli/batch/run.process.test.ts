import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { openFilesBelow } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { NO_LIMITS } from '../../support/journal.ts';
import { type Scene, startScene } from '../support/run-process.ts';

const RUN = ['run', 'rows.jsonl'] as const;

/** Starts a sandbox without limits, with a file of two rows. */
async function startRows(options: SandboxOptions = {}): Promise<Scene> {
  const scene = await startScene({ limits: NO_LIMITS, jobs: { duration: 3_600_000 }, ...options });
  await writeFile(join(scene.folder, 'rows.jsonl'), '{"key":"north","name":"North"}\n{"key":"south","name":"South"}\n');
  return scene;
}

const creates = ({ sandbox }: Scene) => sandbox.log.filter(({ path }) => path.endsWith('/create'));

/** Lets the jobs of all audiences complete. */
function finishAll({ sandbox }: Scene): void {
  for (const { id } of sandbox.jobs.running) sandbox.jobs.finish('audience', id, 104);
}

it('aud run refuses a journal that another run uses; that one stops when nothing reads its output, and says how to continue', async () => {
  const scene = await startRows();
  const { child, printed, ended } = scene.start([...RUN, '--json']);
  await eventually(() => expect(printed.out.match(/"building"/g)).toHaveLength(2));
  const other = await scene.run(RUN);
  const message = /Another run uses .*rows\.jsonl\.journal\. Nothing was sent/;
  expect([other.code, other.err]).toEqual([13, expect.stringMatching(message)]);
  child.stdout?.destroy();
  const [first] = scene.sandbox.jobs.running;
  scene.sandbox.jobs.finish('audience', first?.id ?? 0, 104);
  const { code, err } = await ended;
  expect(code).toBe(6);
  expect(err).toContain('"code":"output-closed"');
  expect(err).toContain('"resume":"audience-activation run rows.jsonl');
  finishAll(scene);
  expect((await scene.run(RUN)).code).toBe(0);
  expect(creates(scene)).toHaveLength(2);
});

it('aud run prints after SIGTERM that a create in flight is unknown, and the command that continues', async () => {
  const scene = await startRows({ faults: [{ on: 'audiences.create', inFlight: 3_600_000, times: 1 }] });
  const { child, ended } = scene.start(RUN);
  await eventually(() => expect(scene.sandbox.faults.list()).toEqual([]));
  child.kill('SIGTERM');
  const { code, err } = await ended;
  expect([code, err]).toEqual(['SIGTERM', expect.stringContaining('2 rows: 1 unfinished, 1 unknown.')]);
  expect(err).toContain('To continue: audience-activation run rows.jsonl');
});

it('SIGTERM ends aud run while it waits for the writer of a pipe', async () => {
  const scene = await startRows();
  const pipe = join(scene.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const { child, ended } = scene.start(['run', 'pipe']);
  await eventually(async () => expect(await openFilesBelow(scene.folder, child.pid)).toContain(pipe));
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 'SIGTERM', err: expect.stringContaining('Interrupted.') });
});

it('aud run creates nothing twice when it is suspended, another run takes over, and it continues', async () => {
  const scene = await startRows();
  const remove = scene.sandbox.faults.add({ on: 'audiences.create', inFlight: 3_600_000, times: 1 });
  const suspended = scene.start(RUN);
  await eventually(() => expect(scene.sandbox.faults.list()).toEqual([]));
  suspended.child.kill('SIGSTOP');
  remove();
  const other = scene.start(RUN);
  await eventually(() => expect(other.printed.err).toContain('south: waiting for audience'));
  suspended.child.kill('SIGCONT');
  finishAll(scene);
  expect((await other.ended).code).toBe(0);
  await suspended.ended;
  expect(await scene.json(['audiences', 'list'])).toHaveLength(2);
});
