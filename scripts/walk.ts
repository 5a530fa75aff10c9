import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { wireAudience } from '../test/support/wire-audience.ts';
import { sourceFiles } from './source-files.ts';

/**
 * Prints how much source there is to understand: the files and functions that one warm call enters (by V8's precise
 * coverage, without the sandbox and dependencies), and the lines of the source. Exits with 1 if a call
 * enters more than its committed figures, which only a commit that says why may raise.
 *
 * @example
 * npm run walk            // this tree
 * npm run walk -- ../old  // another checkout
 */
const root = resolve(process.argv[2] ?? '.');
const source = pathToFileURL(join(root, 'src/')).href;
const { AudienceClient } = await import(`${source}index.ts`);

const cohort = {
  id: 42,
  name: 'Visitors',
  created_at: '2026-11-20 10:00:00',
  updated_at: '2026-11-20 10:00:00',
  status: { id: 4, name: 'Completed' },
  total_eids: 2,
  project: null,
  source: 'file',
  source_audience: null,
};
const reservation = { reference: 'ref', url: 'https://storage.example.com/x', expires_at: '2026-11-22T10:00:00+00:00' };

function dataFor(path: string): unknown {
  if (path.endsWith('/uploads/create')) return reservation;
  return [path.includes('/cohorts') ? cohort : wireAudience()];
}

const client = new AudienceClient({
  baseUrl: 'https://api.example.com',
  token: 'a-token',
  logLevel: 'off',
  fetch: async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.host === 'storage.example.com') {
      await new Response(init?.body).arrayBuffer();
      return new Response();
    }
    return Response.json({ status: 'success', code: 200, message: 'OK', data: dataFor(url.pathname) });
  },
});

/** Numbers of files and functions that a call enters. */
interface Walk {
  readonly files: number;
  readonly functions: number;
}

const file = new TextEncoder().encode('id\n1\n');
const calls: Readonly<Record<string, { readonly committed: Walk; readonly call: () => Promise<unknown> }>> = {
  'audiences.get': { committed: { files: 13, functions: 53 }, call: () => client.audiences.get(42) },
  'audiences.create': {
    committed: { files: 17, functions: 70 },
    call: () => client.audiences.create({ name: 'Visitors' }),
  },
  'audiences.wait, completed': { committed: { files: 23, functions: 120 }, call: () => client.audiences.wait(42) },
  'cohorts.import': {
    committed: { files: 34, functions: 205 },
    call: () => client.cohorts.import(file, { name: 'Customers' }),
  },
};

/** Counts the files and functions of the source that a call enters. */
async function walk(call: () => Promise<unknown>): Promise<Walk & { readonly entered: readonly string[] }> {
  await call();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await call();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const entered = result
    .filter(({ url }) => url.startsWith(source) && !url.includes('/sandbox/'))
    .map(({ url, functions }) => ({
      file: url.slice(source.length),
      names: functions
        .filter(({ ranges: [range] }) => range && range.count > 0)
        .map(({ functionName }) => functionName),
    }))
    .filter(({ names }) => names.length > 0);
  return {
    files: entered.length,
    functions: entered.reduce((sum, { names }) => sum + names.length, 0),
    entered: entered.map(({ file, names }) => `${file}: ${names.join(' ')}`),
  };
}

for (const [name, { committed, call }] of Object.entries(calls)) {
  const { files, functions, entered } = await walk(call);
  const isHigher = files > committed.files || functions > committed.functions;
  if (isHigher) process.exitCode = 1;
  const before = `${committed.files} files, ${committed.functions} functions`;
  console.log(`${name}: ${files} files, ${functions} functions; committed: ${before}${isHigher ? ' (too many)' : ''}`);
  if (process.env.VERBOSE) for (const line of entered) console.log(`  ${line}`);
}
await client.close();

const files = sourceFiles(root).filter((path) => !path.startsWith('sandbox/'));
const texts = files.map((path) => readFileSync(join(root, 'src', path), 'utf8'));
const lines = texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
console.log(`source without the sandbox: ${files.length} files, ${lines} lines`);
