import { describe, expect, it } from 'vitest';
import { serve } from '../../support/file-server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const CREATE = ['audiences', 'create', '--name', 'x'] as const;

describe('an interrupted create', () => {
  it('may have been created if its request was sent, and prints its key, under which a retry creates one resource in all', async () => {
    const { start, run, sandbox, time, client } = await startScene({
      faults: [{ on: 'audiences.create', inFlight: 600_000, times: 1 }],
    });
    const lost = start([...CREATE, '--json']);
    await time.untilTrue(() => sandbox.faults.list().length === 0);
    lost.interrupt();
    const { code, err } = await lost.ended;
    expect({ code, err: linesOf(err) }).toMatchObject({ code: 130, err: [{ outcome: 'unknown', exitCode: 130 }] });
    expect(err).toContain('The outcome of the request is unknown: the resource may have been created.');
    sandbox.faults.clear();
    const key = String(linesOf(err)[0]?.idempotencyKey);
    expect(await run([...CREATE, '--idempotency-key', key])).toMatchObject({ code: 0 });
    expect(await client.audiences.list().toArray({ limit: 10 })).toHaveLength(1);
  });

  it.each([
    ['a refusal', 429, { 'retry-after': '60' }],
    ['a connection that was refused', 0, {}],
  ])('was not created after %s', async (_, status, headers) => {
    const { start } = await startScene();
    const { url } = await serve((request, response) => {
      const body = { status: 'error', code: status, message: 'No.', data: [] };
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
    const env = { AUDIENCE_BASE_URL: status === 0 ? 'http://127.0.0.1:4' : url };
    const running = start([...CREATE, '--verbose', '--max-retries', '50'], { env });
    await running.shows('err', 'The client retries');
    running.interrupt();
    const { code, err } = await running.ended;
    expect(code).toBe(130);
    expect(err).toContain('error: Interrupted.\n');
    expect(err).not.toContain('may have been created');
  });
});
