/**
 * Measures waits in real time, against a separate server in another process: 1,000 waits for jobs that end 2 to 7 s
 * after the start, and 1,000 for jobs that have all ended.
 *
 *   npm run bench:waiting-burst
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { AudienceClient } from 'audience-activation';
import { printTable, printTitle } from './support/report.ts';

const WAITS = 1_000;
const LAST_END_MS = 7_000;

interface Report {
  readonly endsAt: readonly number[];
  readonly readsAt: readonly number[];
  readonly refused: number;
}

/** Waits for all jobs, from `after` milliseconds after the start of the server on; returns a row of figures. */
async function measure(how: string, after: number): Promise<string[]> {
  const server = fork(new URL('./support/audience-server.ts', import.meta.url), [String(WAITS)]);
  const [url] = await once(server, 'message');
  await new Promise((resolve) => setTimeout(resolve, after));
  const client = new AudienceClient({ baseUrl: url, token: 'token' });
  const began = Date.now();
  const seenAt = await Promise.all(
    Array.from({ length: WAITS }, async (_, at) => {
      await client.audiences.wait(at + 1);
      return Date.now();
    }),
  );
  const reported = once(server, 'message');
  server.send('report');
  const [{ endsAt, readsAt, refused }]: [Report] = await reported.then(([report]) => [report]);
  await client.close();
  server.disconnect();
  const delays = seenAt.map((at, index) => at - Math.max(began, endsAt[index] ?? 0)).sort((a, b) => a - b);
  const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
  const times = [mean, delays[Math.ceil(delays.length * 0.95) - 1] ?? 0, delays.at(-1) ?? 0];
  return [how, ...times.map((ms) => (ms / 1_000).toFixed(2)), String(readsAt.length), String(refused)];
}

printTitle(`${WAITS} waits in real time`, ['audience-activation']);
printTable(
  ['jobs', 'mean s', 'p95 s', 'last s', 'reads', '429s'],
  [await measure('end after 2 to 7 s', 0), await measure('have all ended', LAST_END_MS)],
);
