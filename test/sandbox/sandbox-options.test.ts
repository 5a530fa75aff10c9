import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../src/sandbox/index.ts';
import { HOUR, startSandbox } from './support/sandbox-calls.ts';

describe('options of a sandbox', () => {
  it.each([
    [{ seed: 0.5 }, '`seed`'],
    [{ clock: { speed: 0 } }, '`clock.speed`'],
    [{ clock: { speed: 1e7 } }, '`clock.speed`'],
    [{ limits: { buildsPerHour: -1 } }, '`limits.buildsPerHour` must be a number of 0 or more, not -1.'],
    [{ start: new Date('never') }, '`start`'],
    [{ origin: 'https://api.example.com/' }, '`origin`'],
  ])('the options %j are refused', (options, message) => {
    expect(() => createSandbox(options)).toThrow(message);
  });

  it('options and kinds with invalid types are refused', () => {
    const wrong: [object, string][] = [
      [{ speed: 3 }, '`speed` is not an option of the sandbox'],
      [{ clock: 'fast' }, "`clock` must be 'real'"],
      [{ limits: { reads: 3 } }, '`limits.reads` is not a limit'],
      [{ limits: { read: 5 } }, '`limits.read` must be { limit, interval }'],
    ];
    for (const [options, message] of wrong) expect(() => createSandbox(options)).toThrow(message);
    const { account, sandbox } = startSandbox();
    const [oauth, audiences]: string[] = ['oauth', 'audiences'];
    // @ts-expect-error -- not a kind
    expect(() => account.token(oauth)).toThrow('`kind` of a token must be one of login, api, mcp, not "oauth".');
    // @ts-expect-error -- not a kind
    expect(() => sandbox.jobs.next(audiences, 104)).toThrow('`kind` of a job must be one of audience');
  });

  it('an error thrown by a callback does not fail the request', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => thrown.push(error));
    onTestFinished(() => {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    });
    const failing = new Error('mine');
    const fail = (): never => {
      throw failing;
    };
    const api = startSandbox({
      onRequest: fail,
      onDelivery: fail,
      deliver: async () => new Response(null, { status: 500 }),
    });
    const { account, sandbox } = api;
    const { id } = sandbox.webhooks.create({ account, name: 'x', url: 'https://receiver.example/', events: [] });
    expect((await api.call('GET', '/api/v2/webhooks/index', { token: api.token })).status).toBe(200);
    sandbox.webhooks.test(id);
    await sandbox.advance(60_000);
    expect(sandbox.webhooks.deliveries).toHaveLength(2);
    await expect.poll(() => thrown).toEqual([failing, failing, failing]);
  });

  it('`start` sets the initial time of the clock', async () => {
    const sandbox = createSandbox({ clock: 'manual', start: new Date('2027-03-01T12:00:00Z') });
    await sandbox.advance(HOUR);
    expect(new Date(sandbox.now()).toISOString()).toBe('2027-03-01T13:00:00.000Z');
    await expect(sandbox.advance(-1)).rejects.toThrow(/of 0 or more/);
  });
});
