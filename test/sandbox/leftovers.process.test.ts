import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';
import { runs } from '../support/volume.ts';

const run = async (...args: string[]): Promise<string> => (await runProgram(args)).stdout;

describe('a process with sandboxes', () => {
  it('two runs with the same seed log the same bytes, faults and deliveries included', async () => {
    const day = fileURLToPath(new URL('./sandbox-day.ts', import.meta.url));
    const [first, second] = await Promise.all([run(day), run(day)]);
    expect(first).toBe(second);
    const { log, deliveries } = JSON.parse(first);
    expect(log.length).toBe(160);
    expect(new Set(log.map(({ fault }: { fault?: string }) => fault)).size).toBe(4);
    expect(deliveries.length).toBeGreaterThan(160);
  });

  it('a delivery without a response does not keep the process alive', async () => {
    const program = `
      const { createSandbox } = await import('./src/sandbox/index.ts');
      const sandbox = createSandbox({ limits: { deliveryTimeout: 3_600_000 }, deliver: () => new Promise(() => {}) });
      const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
      sandbox.webhooks.test(sandbox.webhooks.create({ account, name: 'x', url: 'http://127.0.0.1:9/', events: [] }).id);
      console.log('done');`;
    // Rejects if the process has not ended by then.
    expect(await run('--input-type=module', '-e', program)).toBe('done\n');
  });

  it('a closed sandbox does not keep the process alive after a receiver has timed out', async () => {
    const program = `
      const { createServer } = await import('node:http');
      const { createSandbox } = await import('./src/sandbox/index.ts');
      let received;
      const arrived = new Promise((resolve) => (received = resolve));
      const receiver = createServer((request) => request.resume().on('end', received)).unref();
      await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
      let delivered;
      const timedOut = new Promise((resolve) => (delivered = resolve));
      const sandbox = createSandbox({ limits: { deliveryTimeout: 1_000 }, onDelivery: delivered });
      await sandbox.listen();
      const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
      const url = 'http://127.0.0.1:' + receiver.address().port;
      sandbox.webhooks.test(sandbox.webhooks.create({ account, url }).id);
      await arrived;
      globalThis.gc(); // happens in any process that waits ten seconds
      await timedOut;
      await sandbox.close();
      process.once('exit', () => console.log(JSON.stringify(sandbox.webhooks.deliveries)));`;
    expect(JSON.parse(await run('--expose-gc', '--input-type=module', '-e', program))).toMatchObject([{ attempt: 1 }]);
  });

  it('memory stays flat over thousands of requests, and 200 sandboxes leave nothing behind', async () => {
    const program = fileURLToPath(new URL('../support/sandbox-memory.ts', import.meta.url));
    const { heaps, before, after, resources } = JSON.parse(
      await run('--expose-gc', program, String(runs(10_000, 20_000, 100_000)), '200'),
    );
    expect(heaps.length).toBeGreaterThan(10);
    expect(heaps.at(-1) - heaps[1]).toBeLessThan(2 ** 19);
    expect(after - before).toBeLessThan(2 ** 20);
    expect(resources).toEqual([]);
  });
});
