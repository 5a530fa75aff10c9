import { subscribe } from 'node:diagnostics_channel';

/** Imports one entry of the package and tells what that did besides. */
const [entry = ''] = process.argv.slice(2);
const told: string[] = [];
for (const channel of ['net.client.socket', 'http.client.request.start', 'undici:request:create']) {
  subscribe(channel, () => told.push(`a request (${channel})`));
}
const globals = (): Map<PropertyKey, PropertyDescriptor | undefined> =>
  new Map(Reflect.ownKeys(globalThis).map((key) => [key, Reflect.getOwnPropertyDescriptor(globalThis, key)]));
// Node itself makes some globals only when they are looked at.
for (const key of Reflect.ownKeys(globalThis)) Reflect.get(globalThis, key);

const before = globals();
await import(entry);
for (const [key, { value, get } = {}] of globals()) {
  const known = before.get(key);
  if (!known) told.push(`a new global: ${String(key)}`);
  else if (!Object.is(known.value, value) || known.get !== get) told.push(`another global: ${String(key)}`);
}
// Only what keeps the process alive counts; the output of this program is no one's fault.
const alive = process.getActiveResourcesInfo().filter((name) => !/^(?:PipeWrap|TTYWrap|CloseReq)$/.test(name));
if (alive.length > 0) told.push(`what keeps the process alive: ${alive.join()}`);
// Requests may come later, as long as the process lives by itself.
process.once('exit', () => {
  for (const line of told) console.log(line);
});
if (alive.length > 0) process.exit();
