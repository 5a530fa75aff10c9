import { createSandbox, type Sandbox } from '../../src/sandbox/index.ts';

/**
 * Measures the heap in use after many requests to one sandbox, and after many sandboxes. Run with `--expose-gc`. Prints
 * one line of JSON.
 */
const { gc } = globalThis;
if (!gc) throw new Error('Run this with --expose-gc.');

/** Returns the bytes of heap in use after garbage collection. */
async function heap(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await new Promise((resolve) => setImmediate(resolve));
    gc?.();
  }
  return process.memoryUsage().heapUsed;
}

function openSandbox(): {
  readonly sandbox: Sandbox;
  readonly call: (path: string, body?: object, key?: string) => Promise<unknown>;
} {
  const sandbox = createSandbox({ clock: 'manual', limits: { logLength: 500, buildsPerHour: 1e6, buildsPerDay: 1e6 } });
  const token = sandbox.accounts.create({ email: 'ada@example.com', password: 'x' }).token('api');
  const call = async (path: string, body?: object, key?: string): Promise<unknown> => {
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    const response = await sandbox.fetch(`http://sandbox/api/v2/${path}`, init);
    if (response.status >= 400) throw new Error(`${path}: ${response.status}`);
    return response.json();
  };
  return { sandbox, call };
}

function idIn(response: unknown): number {
  return Number(/"id":(\d+)/.exec(JSON.stringify(response))?.[1]);
}

/**
 * Sends ten requests of several kinds, over twenty minutes of the sandbox's clock, and deletes the resources that they
 * create.
 */
async function round({ sandbox, call }: ReturnType<typeof openSandbox>, index: number): Promise<void> {
  const audience = idIn(await call('audiences/create', { name: 'x' }, `key ${index}`));
  await sandbox.advance(600_000);
  const activation = idIn(await call('activations/create', { audience_id: audience }));
  await call('uploads/create', { kind: 'cohort' });
  for (const path of ['audiences/index', `audiences/${audience}`, 'usage?yearmonth=2020-01']) await call(path);
  await call('auth/login', { email: 'ada@example.com', password: 'x' });
  await sandbox.advance(600_000);
  await call(`activations/${activation}`);
  await call(`activations/${activation}/delete`, {});
  await call(`audiences/${audience}/delete`, {});
}

const sandboxes = Number(process.argv[3] ?? 1_000);

/** Uses many sandboxes. Every twentieth also listens, sends a webhook event, and is closed. */
async function useSandboxes(): Promise<void> {
  for (let index = 0; index < sandboxes; index++) {
    const sandbox = createSandbox({ deliver: async () => new Response() });
    const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'x' });
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${account.token('api')}`,
    };
    const init = { method: 'POST', headers, body: '{"name":"x"}' };
    await sandbox.fetch('http://sandbox/api/v2/audiences/create', init);
    if (index % 20 > 0) continue;
    const events = ['audience.completed'];
    const { id } = sandbox.webhooks.create({ account, name: 'x', url: 'https://receiver.example/', events });
    const { url } = await sandbox.listen();
    sandbox.webhooks.test(id);
    await (await fetch(`${url}/api/v2/audiences/create`, init)).text();
    await sandbox.close();
  }
}

/** Returns the active resources of this process, other than its terminal and pipe handles. */
const resources = (): string[] => process.getActiveResourcesInfo().filter((name) => !/^(?:TTY|Pipe)Wrap$/.test(name));

const requests = Number(process.argv[2] ?? 100_000);
const session = openSandbox();
const heaps: number[] = [];
for (let index = 0; index < requests / 10; index++) {
  if (index % Math.ceil(requests / 100) === 0) heaps.push(await heap());
  await round(session, index);
}
heaps.push(await heap());

await useSandboxes();
const before = await heap();
await useSandboxes();
const after = await heap();
console.log(JSON.stringify({ heaps, before, after, resources: resources() }));
