import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { NO_LIMITS, parseLines } from '../../support/journal.ts';
import { seeded } from '../../support/seeded.ts';
import { startScene } from './run-process.ts';

const ROWS = 40;

/**
 * Runs batches of 40 rows with activation and files at the same time, kills their processes at random moments under
 * faults, and starts them again until each has ended. Checks that everything was created once, and all files are complete.
 */
export async function checkKilledBatches({ kills, batches }: { kills: number; batches: number }): Promise<void> {
  const random = seeded('killed batches');
  let killed = 0;
  let sent = 0;
  let replayed = 0;
  let runs = 0;
  let doubts = 0;
  async function runOne(): Promise<void> {
    const scene = await startScene({ limits: NO_LIMITS, jobs: { duration: 300 }, seed: Math.floor(random() * 1e6) });
    scene.sandbox.faults.add({ on: 'POST *', cut: 'after', rate: 0.1 });
    scene.sandbox.faults.add({ on: 'POST *', inFlight: 700, rate: 0.15 });
    scene.sandbox.faults.add({ on: 'POST *', status: 503, rate: 0.05 });
    const rows = Array.from({ length: ROWS }, (_, at) => JSON.stringify({ key: `row-${at}`, name: `Row ${at}` }));
    await writeFile(join(scene.folder, 'rows.jsonl'), rows.join('\n'));
    const args = ['run', 'rows.jsonl', '--download', 'results'];
    for (;;) {
      runs++;
      const running = scene.start(args);
      // The lock of a killed process is taken over after ten seconds: only then the next process works.
      const hasBegun = (): boolean => running.printed.err.includes(': ');
      while (!hasBegun() && running.child.exitCode === null) await pause(20);
      if (killed < kills) await Promise.race([running.ended, pause(random() * 2_500)]);
      const isKilled = killed < kills && running.child.exitCode === null;
      if (isKilled) {
        killed++;
        running.child.kill('SIGKILL');
      }
      const { code, err } = await running.ended;
      const lines = parseLines(
        (await readFile(join(scene.folder, 'rows.jsonl.journal'), 'utf8')).replace(/[^\n]*$/, ''),
      );
      const ended = new Set(lines.flatMap(({ key, id, refused }) => (id || refused ? [key] : [])));
      doubts = Math.max(doubts, lines.filter((line) => line.sent && !ended.has(line.key)).length);
      if (code === 0) break;
      if (!isKilled) expect(code, err).toBe(0);
    }
    const posts = scene.sandbox.log.filter(({ path }) => path.endsWith('/create'));
    sent += posts.length;
    replayed += posts.filter((entry) => entry.replayed).length;
    scene.sandbox.faults.clear();
    const audiences = await scene.json(['audiences', 'list', '--all']);
    const activations = await scene.json(['activations', 'list', '--all']);
    expect(audiences.map(({ name }) => name).sort()).toEqual(rows.map((row) => JSON.parse(row).name).sort());
    expect(activations).toHaveLength(ROWS);
    const files = await readdir(join(scene.folder, 'results'), { recursive: true, withFileTypes: true });
    const saved = files.filter((file) => file.isFile() && !file.name.endsWith('.part'));
    expect(saved).toHaveLength(ROWS);
    for (const { parentPath, name } of saved) expect((await stat(join(parentPath, name))).size).toBeGreaterThan(0);
  }
  let finished = 0;
  await Promise.all(
    Array.from({ length: batches }, async () => {
      do {
        await runOne();
        finished++;
      } while (killed < kills);
    }),
  );
  console.info(
    `${killed} kills in ${finished} batches of ${ROWS} rows, ${runs} runs: ${sent} creates sent, ${replayed} replayed, at most ${doubts} in doubt; each created once`,
  );
  expect(killed).toBe(kills);
}
