/**
 * Cold imports of this client and of others, each in a process of its own: milliseconds and heap over a
 * process that imports nothing, interleaved rounds, medians.
 *
 *   npm run bench:startup
 */
import { heap, milliseconds } from './support/cold-import.ts';
import { clientImports, packagesOf, webhookImports } from './support/imports.ts';
import { printTable, printTitle } from './support/report.ts';
import { medianOfRounds } from './support/rounds.ts';

const ROUNDS = 25;
const HEAP_ROUNDS = 3;
const BASE = 'stripe';

const webhooks = webhookImports.filter((one) => one.package !== BASE);
const imports = [...clientImports, ...webhooks];
const contenders = { nothing: '', ...Object.fromEntries(imports.map(({ name, code }) => [name, code])) };

printTitle('Cold import over a bare Node process', packagesOf(imports));
const times = await medianOfRounds(contenders, ROUNDS, milliseconds);
const heaps = await medianOfRounds(contenders, HEAP_ROUNDS, heap);

const over = (values: ReadonlyMap<string, number>, name: string): number =>
  (values.get(name) ?? 0) - (values.get('nothing') ?? 0);
const rows = imports.map(({ name }) => [
  name,
  over(times, name).toFixed(0),
  (over(times, name) / over(times, BASE)).toFixed(2),
  (over(heaps, name) / 2 ** 20).toFixed(1),
]);
printTable(['Import', 'ms', `of ${BASE}`, 'Heap, MiB'], rows);
console.log(`A bare process takes ${times.get('nothing')?.toFixed(0)} ms.`);
