import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startBench } from '../support/sandbox.ts';

/** Starts a backend of the examples on a free port, against a sandbox whose jobs do not end. */
async function startBackend(program: string) {
  const bench = await startBench();
  const child = spawn(process.execPath, [program], {
    env: {
      ...process.env,
      AUDIENCE_BASE_URL: bench.url,
      AUDIENCE_TOKEN: bench.account.token('api'),
      AUDIENCE_LOG: 'info',
      PORT: '0',
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      output[name] += chunk.toString();
    });
  }
  const ended = once(child, 'close');
  const address = (): string | undefined => /listening (?:at|on) (http:\/\/[\d.:]+\d)/i.exec(output.stdout)?.[1];
  await expect.poll(address).toBeDefined();
  return { ...bench, child, output, ended, backend: address() ?? '' };
}

const post = (url: string): Promise<Response> =>
  fetch(`${url}/audiences`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Visitors' }),
  });

describe.each([
  { program: 'examples/fastify-shutdown.ts', end: [0, null] },
  // Nest ends its process with the signal that it received.
  { program: 'examples/nest/run.ts', end: [null, 'SIGTERM'] },
])('$program', ({ program, end }) => {
  it('ends on SIGTERM while a request waits for a job, and names the audience that was created', async () => {
    const { sandbox, child, output, ended, backend } = await startBackend(program);
    const responding = post(backend);
    const hasPolled = (): boolean => sandbox.log.some(({ method, path }) => method === 'GET' && /\/\d+$/.test(path));
    await expect.poll(hasPolled).toBe(true);
    child.kill('SIGTERM');

    const response = await responding;
    expect(response.status).toBe(503);
    const created = { kind: 'audience', id: expect.any(Number) };
    expect(await response.json()).toEqual({ code: 'client-closed', created });
    expect(await ended).toEqual(end);
    expect(output.stderr).toBe('');
  });

  it('responds with the audience when its job has ended', async () => {
    const { sandbox, child, ended, backend } = await startBackend(program);
    const responding = post(backend);
    await expect.poll(() => sandbox.log.some(({ path }) => /\/\d+$/.test(path))).toBe(true);
    await sandbox.advance(3_600_000);
    const response = await responding;
    expect(await response.json()).toMatchObject({ name: 'Visitors', status: { id: 104 } });
    child.kill('SIGTERM');
    expect(await ended).toEqual(end);
  });
});

describe('the pino logger of examples/fastify-shutdown.ts', () => {
  it('has the fields of a retry', async () => {
    const { sandbox, child, output, ended, backend } = await startBackend('examples/fastify-shutdown.ts');
    sandbox.faults.add({ on: 'audiences.create', status: 503, times: 1 });
    const responding = post(backend);
    const retry = (): unknown =>
      output.stdout
        .split('\n')
        .filter((line) => line.includes('audiences.create'))
        .map((line) => JSON.parse(line))[0];
    await expect.poll(retry).toMatchObject({ level: 30, operation: 'audiences.create', msg: expect.any(String) });
    child.kill('SIGTERM');
    await responding;
    await ended;
  });
});
