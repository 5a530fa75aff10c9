/**
 * Builds twenty audiences and waits for all of them with a few list reads. Shows a live line for each and a table at
 * the end; the exit code is 1 if one failed. Ctrl-C ends the waits, not the builds, and prints how to resume the waits.
 *
 * Runs against a sandbox in another process, or against the service of AUDIENCE_BASE_URL and AUDIENCE_TOKEN. With ids,
 * `node examples/await-many.ts 12 13 14`, it waits for existing audiences.
 */
import {
  type Audience,
  AudienceClient,
  apiToken,
  JobError,
  memoryTokenStore,
  type WaitOptions,
} from 'audience-activation';
import logUpdate from 'log-update';
import { startSandbox } from './support/sandbox.ts';

/** The displayed state of one audience. */
interface Line {
  name: string;
  id?: number;
  status: string;
  seconds: number;
  end?: 'completed' | 'failed' | 'interrupted';
}

const SIGNS = { completed: '✓', failed: '✗', interrupted: '-', running: '…' } as const;

const ids = process.argv.slice(2).map(Number);
const lines: Line[] =
  ids.length > 0
    ? ids.map((id) => ({ name: `Audience ${id}`, id, status: 'waiting', seconds: 0 }))
    : Array.from({ length: 20 }, (_, at) => ({
        name: at === 12 ? 'One that cannot be built' : `Visitors of store ${at + 1}`,
        status: 'creating',
        seconds: 0,
      }));

const ownService = process.env.AUDIENCE_BASE_URL !== undefined;
const sandbox = ownService ? undefined : await startSandbox({ speed: 60 });
let reads = 0;
const client = new AudienceClient({
  ...(sandbox && { baseUrl: sandbox.url, token: apiToken(sandbox.credentials, { store: memoryTokenStore() }) }),
  onRequest({ method }) {
    if (method === 'GET') reads++;
  },
});

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());

const format = ({ name, id = 0, status, seconds, end }: Line): string =>
  `${SIGNS[end ?? 'running']} ${String(id || '').padStart(4)}  ${name.padEnd(26)} ${status.padEnd(16)} ${seconds.toFixed(1)} s`;

/** Updates a line and shows it: in place in a terminal; elsewhere, as a new line when its status has changed. */
function show(line: Line, change: Partial<Line>): void {
  const changed = change.status !== line.status || change.end !== line.end;
  Object.assign(line, change);
  if (process.stdout.isTTY) logUpdate(lines.map(format).join('\n'));
  else if (changed) console.log(format(line));
}

/** Creates an audience, unless the line has the id of an existing one, and waits for it. */
function build(line: Line): Promise<Audience> {
  const wait: WaitOptions<Audience> = {
    signal: interrupt.signal,
    onUpdate: ({ name, status }, { elapsed }) => show(line, { name, status: status.name, seconds: elapsed / 1000 }),
  };
  if (line.id !== undefined) return client.waits.wait({ kind: 'audience', id: line.id }, wait);
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  const dataset = [{ analysis_type: 'WebDomain', start_date: day(30), end_date: day(1) }] as const;
  const onCreated = ({ id, status }: Audience): void => show(line, { id, status: status.name });
  return client.audiences.createAndWait({ name: line.name, dataset }, { signal: interrupt.signal, onCreated, wait });
}

async function follow(line: Line): Promise<void> {
  try {
    await build(line);
    show(line, { end: 'completed' });
  } catch (error) {
    if (interrupt.signal.aborted) show(line, { end: 'interrupted' });
    else show(line, { end: 'failed', ...(!JobError.isInstance(error) && { status: String(error) }) });
  }
}

await Promise.all(lines.map(follow));
if (process.stdout.isTTY) logUpdate.done();
console.table(lines.map(({ seconds, ...line }) => ({ ...line, seconds: Number(seconds.toFixed(1)) })));
console.log(`${lines.length} waits took ${reads} reads.`);
const left = lines.flatMap(({ id, end }) => (end === 'interrupted' && id !== undefined ? [id] : []));
if (interrupt.signal.aborted) {
  console.log(`The builds continue. To wait for them again: node examples/await-many.ts ${left.join(' ')}`);
  if (sandbox)
    console.log('(Builds of the sandbox end with it. Set AUDIENCE_BASE_URL to use a service that keeps running.)');
  process.exitCode = 130;
} else if (lines.some(({ end }) => end === 'failed')) {
  process.exitCode = 1;
}
await client.close();
await sandbox?.stop();
