import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { NestFactory } from '@nestjs/core';
import fastify from 'fastify';
import 'reflect-metadata';
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

/** A server that calls hooks when it is closed, with one request that responds when the test says so. */
interface HookedServer {
  readonly url: string;
  close(): Promise<unknown>;
}

type StartServer = (
  hooks: readonly [early: () => void, late: () => void],
  respond: () => Promise<string>,
) => Promise<HookedServer>;

const startFastify: StartServer = async ([early, late], respond) => {
  const server = fastify();
  server.get('/', respond);
  server.addHook('preClose', async () => void early());
  server.addHook('onClose', async () => void late());
  return { url: await server.listen({ port: 0, host: '127.0.0.1' }), close: () => server.close() };
};

const startNest: StartServer = async ([early, late], respond) => {
  const hooks = { beforeApplicationShutdown: early, onApplicationShutdown: late };
  class HooksModule {}
  const module = { module: HooksModule, providers: [{ provide: 'hooks', useValue: hooks }] };
  const app = await NestFactory.create(module, { logger: false });
  app
    .getHttpAdapter()
    .get('/', async (_request: unknown, response: { end(body: string): void }) => response.end(await respond()));
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl(), close: () => app.close() };
};

describe('hooks of the frameworks', () => {
  it.each([
    { early: 'preClose', late: 'onClose', start: startFastify },
    { early: 'beforeApplicationShutdown', late: 'onApplicationShutdown', start: startNest },
  ])('$early is called while a request waits, and $late only after the request has ended', async ({ start }) => {
    const calls: string[] = [];
    const waiting = Promise.withResolvers<string>();
    const received = Promise.withResolvers<void>();
    const { url, close } = await start([() => calls.push('early'), () => calls.push('late')], () => {
      received.resolve();
      return waiting.promise;
    });
    // The connection must not outlive the response, or it keeps the server open.
    const responding = fetch(url, { headers: { connection: 'close' } });
    await received.promise;
    const closing = close();
    await expect.poll(() => calls).toEqual(['early']);
    calls.push('end of the request');
    waiting.resolve('done');
    await (await responding).text();
    await closing;
    expect(calls).toEqual(['early', 'end of the request', 'late']);
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
