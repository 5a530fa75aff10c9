import { subscribe } from 'node:diagnostics_channel';

/** Imports one entry point of the package and prints the side effects of the import. */
const [entry = ''] = process.argv.slice(2);
const effects: string[] = [];
for (const channel of ['net.client.socket', 'http.client.request.start', 'undici:request:create']) {
  subscribe(channel, () => effects.push(`a request (${channel})`));
}
const globals = (): Map<PropertyKey, PropertyDescriptor | undefined> =>
  new Map(Reflect.ownKeys(globalThis).map((key) => [key, Reflect.getOwnPropertyDescriptor(globalThis, key)]));
// Read all globals first, because Node creates some of them only when they are read.
for (const key of Reflect.ownKeys(globalThis)) Reflect.get(globalThis, key);

const before = globals();
await import(entry);
for (const [key, { value, get } = {}] of globals()) {
  const previous = before.get(key);
  if (!previous) effects.push(`a new global: ${String(key)}`);
  else if (!Object.is(previous.value, value) || previous.get !== get) effects.push(`a changed global: ${String(key)}`);
}
// Leave out the resources of this program's own output.
const alive = process.getActiveResourcesInfo().filter((name) => !/^(?:PipeWrap|TTYWrap|CloseReq)$/.test(name));
if (alive.length > 0) effects.push(`handles that keep the process alive: ${alive.join()}`);
// Print on exit, because the import may also cause a request later.
process.once('exit', () => {
  console.log(effects.length === 0 ? 'nothing' : effects.join('\n'));
});
if (alive.length > 0) process.exit();
