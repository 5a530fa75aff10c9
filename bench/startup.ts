/**
 * Measures the cold start of this client and of others, each in its own process: the time to the first response of a
 * small read on loopback, and the time and heap of the import alone. Subtracts the values of a process that does
 * nothing. Prints medians of interleaved rounds. A ratio is the median of the ratios of each round, with the range
 * without the lowest and the highest tenth.
 *
 *   npm run bench -- startup
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { heap, milliseconds } from './support/cold-import.ts';
import { firstResponses } from './support/first-responses.ts';
import { clientImports, packagesOf, webhookImports } from './support/imports.ts';
import { printTable, printTitle } from './support/report.ts';
import { median, ratioWithRange, valuesOfRounds } from './support/rounds.ts';

const ROUNDS = 25;
const HEAP_ROUNDS = 3;

type Rounds = ReadonlyMap<string, readonly number[]>;

/** Returns a contender's values, minus the values of a process that does nothing in the same rounds. */
function over(rounds: Rounds, name: string): number[] {
  const nothing = rounds.get('nothing') ?? [];
  return (rounds.get(name) ?? []).map((value, round) => value - (nothing[round] ?? 0));
}

function printOver(heading: string, base: string, times: Rounds, heaps?: Rounds): void {
  const rows = [...times.keys()]
    .filter((name) => name !== 'nothing')
    .map((name) => [
      name,
      median(over(times, name)).toFixed(0),
      ratioWithRange(over(times, name), over(times, base)),
      ...(heaps ? [(median(over(heaps, name)) / 2 ** 20).toFixed(1)] : []),
    ]);
  printTable([heading, 'ms', `of ${base}`, ...(heaps ? ['Heap, MiB'] : [])], rows);
}

const webhooks = webhookImports.filter((one) => one.package !== 'stripe');
const imports = [...clientImports, ...webhooks];
printTitle('Cold start over a bare Node process', packagesOf(imports));

const server = fork(new URL('./support/echo-server.ts', import.meta.url));
const [url] = await once(server, 'message');
printOver(
  'First response',
  'bare fetch',
  await valuesOfRounds({ nothing: '', ...firstResponses(url) }, ROUNDS, milliseconds),
);
server.kill();

const contenders = { nothing: '', ...Object.fromEntries(imports.map(({ name, code }) => [name, code])) };
const times = await valuesOfRounds(contenders, ROUNDS, milliseconds);
printOver('Import', 'stripe', times, await valuesOfRounds(contenders, HEAP_ROUNDS, heap));
console.log(`A bare process takes ${median(times.get('nothing') ?? []).toFixed(0)} ms.`);
