/**
 * Cold start of this client and of others, each in its own process: milliseconds until the first response of a small read on
 * loopback, milliseconds and heap of the import alone, over a process that does nothing. Interleaved rounds, medians.
 *
 *   npm run bench:startup
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { heap, milliseconds } from './support/cold-import.ts';
import { firstResponses } from './support/first-responses.ts';
import { clientImports, packagesOf, webhookImports } from './support/imports.ts';
import { printTable, printTitle } from './support/report.ts';
import { medianOfRounds } from './support/rounds.ts';

const ROUNDS = 25;
const HEAP_ROUNDS = 3;
const BASE = 'stripe';

/** Prints what each contender takes over the one that does nothing. */
function printOver(heading: string, times: ReadonlyMap<string, number>, heaps?: ReadonlyMap<string, number>): void {
  const over = (values: ReadonlyMap<string, number>, name: string): number =>
    (values.get(name) ?? 0) - (values.get('nothing') ?? 0);
  const rows = [...times.keys()]
    .filter((name) => name !== 'nothing')
    .map((name) => [
      name,
      over(times, name).toFixed(0),
      (over(times, name) / over(times, BASE)).toFixed(2),
      ...(heaps ? [(over(heaps, name) / 2 ** 20).toFixed(1)] : []),
    ]);
  printTable([heading, 'ms', `of ${BASE}`, ...(heaps ? ['Heap, MiB'] : [])], rows);
}

const webhooks = webhookImports.filter((one) => one.package !== BASE);
const imports = [...clientImports, ...webhooks];
printTitle('Cold start over a bare Node process', packagesOf(imports));

const server = fork(new URL('./support/echo-server.ts', import.meta.url));
const [url] = await once(server, 'message');
printOver('First response', await medianOfRounds({ nothing: '', ...firstResponses(url) }, ROUNDS, milliseconds));
server.kill();

const contenders = { nothing: '', ...Object.fromEntries(imports.map(({ name, code }) => [name, code])) };
const times = await medianOfRounds(contenders, ROUNDS, milliseconds);
printOver('Import', times, await medianOfRounds(contenders, HEAP_ROUNDS, heap));
console.log(`A bare process takes ${times.get('nothing')?.toFixed(0)} ms.`);
