import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Activation, AudienceClient } from '../../../src/index.ts';
import { makeOlder } from '../../support/directory.ts';
import { NO_LIMITS, parseLines } from '../../support/journal.ts';
import { seeded } from '../../support/seeded.ts';
import { runs } from '../../support/volume.ts';
import { type Scene, startScene } from './run-process.ts';

const KEYS = Array.from({ length: runs(12, 12, 40) }, (_, at) => `row-${at}`);

/** Every second row has a file, which is imported as a cohort first. */
const rows = KEYS.map((key, at) => ({ key, name: key, ...(at % 2 === 0 && { file: `${key}.csv` }) }));

/** Time without a request after which a run counts as hanging. */
const STALLED_MS = 150_000;

/** Line of a journal about a row that is done. */
interface DoneLine {
  readonly key: string;
  readonly done: { readonly audience: number; readonly activation: number; readonly files: readonly string[] };
}

/**
 * Runs batches of rows with cohorts, activations and results at the same time, kills their processes at random moments under
 * faults, and starts them again until each has ended. Checks that everything was created once, and all files are complete.
 * Returns the number of kills.
 */
export async function killBatches({ kills, batches }: { kills: number; batches: number }): Promise<number> {
  const random = seeded('killed batches');
  const totals = { kills: 0, ended: 0, runs: 0, sent: 0, replayed: 0, doubts: 0, files: 0 };

  /** Returns whether the run was killed, and how it has ended. */
  async function runOnce({ start, sandbox, folder }: Scene) {
    totals.runs++;
    const running = start(['run', 'rows.jsonl', '--download', 'results']);
    // Kills at a random request, or some time after it, so that it does not depend on the speed of the machine.
    const last = sandbox.log.length + 1 + random() * 4 * KEYS.length;
    const isDue = (): boolean => totals.kills < kills && sandbox.log.length >= last;
    // The command keeps to 30 creates a minute: the last run of a batch takes minutes, but none without a request.
    let latest = { requests: sandbox.log.length, at: Date.now() };
    while (running.child.exitCode === null && !isDue()) {
      await pause(5);
      if (sandbox.log.length > latest.requests) latest = { requests: sandbox.log.length, at: Date.now() };
      else if (Date.now() - latest.at > STALLED_MS) throw new Error(`A run hangs:\n${running.printed.err}`);
    }
    if (isDue()) await pause(random() * 20);
    const isKilled = isDue() && running.child.exitCode === null;
    if (isKilled) {
      totals.kills++;
      running.child.kill('SIGKILL');
    }
    const ended = await running.ended;
    // As if the kill was a minute ago: the next process does not wait for ten seconds until it takes over the lock.
    const lock = join(folder, 'rows.jsonl.journal.lock');
    if (isKilled && existsSync(lock)) await makeOlder(lock, 60_000);
    return { isKilled, ...ended };
  }

  async function runBatch(): Promise<void> {
    const scene = await startScene({ limits: NO_LIMITS, jobs: { duration: 300 }, seed: Math.floor(random() * 1e6) });
    const { sandbox, folder } = scene;
    sandbox.faults.add({ on: 'POST *', cut: 'after', rate: 0.1 });
    sandbox.faults.add({ on: 'POST *', inFlight: 700, rate: 0.15 });
    sandbox.faults.add({ on: 'POST *', status: 503, rate: 0.05 });
    sandbox.faults.add({ on: 'GET /results/*', cut: 'body', rate: 0.1 });
    sandbox.faults.add({ on: 'GET /results/*', delay: 200, rate: 0.3 });
    sandbox.faults.add({ on: 'PUT /uploads/*', cut: 'after', rate: 0.1 });
    sandbox.faults.add({ on: 'PUT /uploads/*', delay: 100, rate: 0.3 });
    await writeFile(join(folder, 'rows.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
    const list = Array.from({ length: 600 }, (_, at) => `${at}@example.com\n`).join('');
    for (const { key, file } of rows) if (file) await writeFile(join(folder, file), `email\n${key}@x.org\n${list}`);
    for (;;) {
      const { code, err, isKilled } = await runOnce(scene);
      totals.doubts = Math.max(totals.doubts, doubtsOf(await linesOf(folder)));
      if (code === 0) break;
      // If each attempt of a create request loses its response, the run ends with 10, and the next run repeats the request.
      if (!isKilled) expect(code, err).toBe(10);
    }
    const creates = sandbox.log.filter(({ path }) => path.endsWith('/create'));
    totals.sent += creates.length;
    totals.replayed += creates.filter((entry) => entry.replayed).length;
    sandbox.faults.clear();
    const files = await checkResults(scene);
    totals.files += files;
    totals.ended++;
    console.info(`Batch ${totals.ended} is complete, after ${totals.kills} of ${kills} kills.`);
  }

  await Promise.all(
    Array.from({ length: batches }, async () => {
      do await runBatch();
      while (totals.kills < kills);
    }),
  );
  console.info(
    `${totals.kills} kills in ${totals.ended} batches of ${KEYS.length} rows, ${totals.runs} runs: ${totals.sent} creates sent, ${totals.replayed} replayed, at most ${totals.doubts} in doubt; audiences, activations and cohorts created twice: 0, rows lost: 0, incomplete files: 0 of ${totals.files}`,
  );
  return totals.kills;
}

/** Returns the complete lines of the journal. */
const linesOf = async (folder: string): Promise<Record<string, unknown>[]> =>
  parseLines((await readFile(join(folder, 'rows.jsonl.journal'), 'utf8')).replace(/[^\n]*$/, ''));

/** Returns how many creates may or may not have taken effect. */
function doubtsOf(lines: readonly Record<string, unknown>[]): number {
  const settled = new Set(lines.flatMap(({ key, id, refused }) => (id || refused ? [key] : [])));
  return lines.filter(({ key, sent }) => sent && !settled.has(key)).length;
}

/** Checks that each row has one audience, one activation of it, its results, and one cohort if it has a file. Returns the number of files. */
async function checkResults({ url, account, folder }: Scene): Promise<number> {
  await using client = new AudienceClient({ baseUrl: url, token: account.token('api'), rateLimits: false });
  const cohorts = (await client.cohorts.list().toArray({ limit: 10_000 })).map(({ name }) => name);
  expect(cohorts.sort()).toEqual(rows.flatMap(({ name, file }) => (file ? [name] : [])).sort());
  const audiences = new Map<string, number>();
  for await (const { id, name } of client.audiences.list()) {
    expect(audiences, `${name} was created once`).not.toHaveProperty([name]);
    audiences.set(name, id);
  }
  expect([...audiences.keys()].sort()).toEqual(KEYS.toSorted());
  const activations = new Map<number, Activation>();
  for await (const activation of client.activations.list()) activations.set(activation.id, activation);
  expect(activations.size).toBe(KEYS.length);

  const done = (await linesOf(folder)).flatMap((line) => (line.done ? [line as unknown as DoneLine] : []));
  expect(done.map(({ key }) => key).sort()).toEqual(KEYS.toSorted());
  const expected = new Map<string, Buffer>();
  for (const { key, done: row } of done) {
    expect(row.audience).toBe(audiences.get(key));
    expect(activations.get(row.activation)?.audience?.id).toBe(row.audience);
    for await (const { fileName, open } of client.activations.download(row.activation)) {
      const path = join('results', key, fileName);
      expect(row.files).toContain(path);
      expected.set(path, Buffer.from(await new Response(await open()).arrayBuffer()));
    }
  }
  // Nothing else is there, such as parts of files.
  const entries = await readdir(join(folder, 'results'), { recursive: true, withFileTypes: true });
  const saved = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  expect(saved.sort()).toEqual([...expected.keys()].map((path) => join(folder, path)).sort());
  for (const [path, content] of expected) expect(content.equals(await readFile(join(folder, path)))).toBe(true);
  return saved.length;
}
