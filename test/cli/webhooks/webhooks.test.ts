import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../../src/cli/webhooks/sample-events.ts';
import { toNodeListener } from '../../../src/node/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { createWebhookReceiver, signWebhook, type WebhookEvent } from '../../../src/webhooks/index.ts';
import { serve } from '../../support/file-server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const SECRET = 'whsec_local';
const RUNNING = { jobs: { duration: 3_600_000 } };

/** Starts a receiver that answers with each status once and then with 204. Collects bodies and signatures. */
async function startReceiver(...statuses: number[]) {
  const deliveries: { body: string; signature: string }[] = [];
  const { url } = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    deliveries.push({ body, signature: String(request.headers['service-signature']) });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  return { url: `${url}/webhooks`, deliveries };
}

describe('listen', () => {
  it('`listen --all` delivers the jobs that run and those created later; stripe verifies; Ctrl-C ends it', async () => {
    const { json, sandbox, start, time } = await startScene(RUNNING);
    const [ended] = await json(['audiences', 'create', '--name', 'ended before']);
    sandbox.jobs.finish('audience', Number(ended?.id), 104);
    const [running] = await json(['audiences', 'create', '--name', 'running']);
    const { url, deliveries } = await startReceiver();
    const listening = start(`listen --forward-to ${url} --all --secret ${SECRET} --company-id 7 --json`.split(' '));
    await time.untilTrue(() => sandbox.log.filter(({ path }) => path.endsWith('/index')).length > 2);
    const [later] = await json(['audiences', 'create', '--name', 'later']);
    sandbox.jobs.finish('audience', Number(later?.id), 422);
    sandbox.jobs.finish('audience', Number(running?.id), 104);
    await time.untilTrue(() => deliveries.length === 2);
    const events = deliveries.map(({ body, signature }) => Stripe.webhooks.constructEvent(body, signature, SECRET));
    expect(events).toMatchObject([
      { type: 'audience.completed', company_id: 7, data: { id: running?.id } },
      { type: 'audience.failed', data: { id: later?.id, status: { id: 422 } } },
    ]);
    await listening.shows('out', '\n', 2);
    listening.interrupt();
    const { code, out } = await listening.ended;
    expect({ code, lines: linesOf(out) }).toMatchObject({ code: 0, lines: [{ result: 204 }, { result: 204 }] });
  });

  it('retries a refused delivery with the same id, in six attempts at most, faster than the service', async () => {
    const { json, run } = await startScene();
    const [audience] = await json(['audiences', 'create', '--name', 'a']);
    const args = ['--jobs', String(audience?.id), '--secret', SECRET, '--retry-speed', '1000000', '--json'];
    const once = await startReceiver(500, 503);
    const retried = await run(['listen', '--forward-to', once.url, ...args]);
    expect(retried.code).toBe(0);
    expect(linesOf(retried.out).map(({ attempt, result }) => [attempt, result])).toEqual([
      [1, 500],
      [2, 503],
      [3, 204],
    ]);
    expect(new Set(once.deliveries.map(({ body }) => body)).size).toBe(1);
    const never = await startReceiver(...Array<number>(9).fill(410));
    const refused = await run(['listen', '--forward-to', never.url, ...args]);
    expect({ code: refused.code, attempts: never.deliveries.length }).toEqual({ code: 8, attempts: 6 });
    expect(linesOf(refused.out).at(-1)).toMatchObject({ attempt: 6, next: 'failed' });
    const { url, close } = await createSandbox().listen();
    await close();
    const gone = await run(['listen', '--forward-to', url, ...args]);
    expect(linesOf(gone.out)[0]).toMatchObject({ result: 'not reached (ECONNREFUSED)', next: 'again in 1 s' });
  });

  it('ends by Ctrl-C while a delivery is retried', async () => {
    const { json, start } = await startScene();
    const [audience] = await json(['audiences', 'create', '--name', 'a']);
    const { url } = await startReceiver(500, 500, 500);
    const listening = start(['listen', '--forward-to', url, '--jobs', String(audience?.id), '--secret', SECRET]);
    await listening.shows('out', 'again in');
    listening.interrupt();
    expect(await listening.ended).toMatchObject({ code: 130, err: expect.stringContaining('Interrupted.') });
  });

  it('delivers the ends of other jobs when one does not exist, with the resource as its GET returns it', async () => {
    const { json, run } = await startScene();
    const [audience] = await json(['audiences', 'create', '--name', 'a']);
    const { url, deliveries } = await startReceiver();
    const args = ['listen', '--forward-to', url, '--jobs', `99,${audience?.id}`, '--secret', SECRET];
    expect(await run(args)).toMatchObject({ code: 8, err: expect.stringContaining('404') });
    const [data] = JSON.parse((await run(['request', 'GET', `/api/v2/audiences/${audience?.id}`])).out);
    expect(deliveries.map(({ body }) => JSON.parse(body))).toEqual([
      {
        schema_version: 1,
        id: expect.stringMatching(/^evt_/),
        type: 'audience.completed',
        company_id: 1,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        data,
      },
    ]);
  });

  it('`--print-secret` prints a secret that is kept for this user, and that `trigger` signs with', async () => {
    const { run, folder } = await startScene();
    const { out } = await run(['listen', '--print-secret']);
    expect(out).toMatch(/^whsec_[0-9a-f]{48}\n$/);
    const others = await Promise.all(Array.from({ length: 4 }, () => run(['listen', '--print-secret'])));
    expect(new Set(others.map((other) => other.out))).toEqual(new Set([out]));
    expect((await stat(join(folder, 'config/webhook-secret.json'))).mode & 0o777).toBe(0o600);
    const { url, deliveries } = await startReceiver();
    expect((await run(['trigger', 'webhook.test', '--forward-to', url])).code).toBe(0);
    const [{ body = '', signature = '' } = {}] = deliveries;
    expect(Stripe.webhooks.constructEvent(body, signature, out.trim())).toMatchObject({ type: 'webhook.test' });
  });

  it.each([
    [['--all'], '--forward-to must be the URL of a receiver'],
    [
      ['--all', '--forward-to', 'localhost:3000/webhooks'],
      '--forward-to must be the URL of a receiver, such as http://localhost:3000/webhooks.',
    ],
    [['--forward-to', 'http://127.0.0.1:9'], 'Pass either --jobs audience:12,cohort:7 or --all.'],
    [['--forward-to', 'http://127.0.0.1:9', '--all', '--jobs', '1'], 'Pass either --jobs'],
    [['--forward-to', 'http://127.0.0.1:9', '--jobs', 'estimate:1'], 'Estimates have no webhook events.'],
  ])('%j is wrong usage', async (args, message) => {
    const { run } = await startScene();
    expect(await run(['listen', ...args])).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
  });
});

describe('trigger', () => {
  it.each(EVENT_TYPES)('sends %s, which a receiver accepts as genuine and known', async (type) => {
    const { run } = await startScene();
    const events: WebhookEvent[] = [];
    const otherwise = (): void => expect.unreachable();
    const collect = (event: WebhookEvent): void => void events.push(event);
    const receiver = createWebhookReceiver({ secrets: SECRET, on: { [type]: collect }, otherwise });
    const { url } = await serve(toNodeListener(receiver));
    const args = ['trigger', type, '--forward-to', url, '--secret', SECRET, '--data', '{"id":4711,"name":"Mine"}'];
    expect(await run(args)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^id\tevt_\w+\ntype\t.*\nresult\t200\n$/),
    });
    expect(events).toMatchObject([{ type, data: { id: 4711, name: 'Mine' } }]);
  });

  it('reports the refusal of the receiver: exit code 8', async () => {
    const { run } = await startScene();
    const { url } = await startReceiver(403);
    const { code, err } = await run(['trigger', 'cohort.failed', '--forward-to', url, '--secret', SECRET]);
    expect({ code, err }).toEqual({ code: 8, err: 'error: The receiver did not accept the event: 403.\n' });
    expect(await run(['trigger', 'audience.done', '--forward-to', url])).toMatchObject({ code: 2 });
  });
});

describe('webhooks verify', () => {
  const event = { id: 'evt_1', type: 'audience.completed', created_at: '2026-11-23T00:00:00Z', data: { id: 1 } };
  const body = JSON.stringify(event);

  it('prints a verified event', async () => {
    const { json } = await startScene();
    const header = `Service-Signature: ${await signWebhook(body, SECRET)}`;
    const args = ['webhooks', 'verify', '--secret', 'whsec_old', '--secret', SECRET, '--header', header];
    expect(await json(args, { input: body })).toMatchObject([{ valid: true, id: 'evt_1', type: 'audience.completed' }]);
  });

  it.each([
    ['no-match', 'a newline at the end', `${body}\n`, SECRET, 'without the newline at the end'],
    ['no-match', 'a padded secret', body, ` ${SECRET}`, 'without the white space around the secret'],
    [
      'no-match',
      'formatted JSON',
      JSON.stringify(event, null, 2),
      SECRET,
      'a framework or a proxy has parsed and reformatted the body',
    ],
    ['no-match', 'another secret', body, 'whsec_other', 'Check the secret, and that the body is unchanged.'],
  ])('%s: %s', async (reason, _, input, secret, cause) => {
    const { run } = await startScene();
    const header = await signWebhook(body, SECRET);
    const { code, out, err } = await run(['webhooks', 'verify', '--secret', secret, '--header', header, '--json'], {
      input,
    });
    expect({ code, out }).toEqual({ code: 8, out: '' });
    expect(JSON.parse(err)).toMatchObject({ code: 'webhook-invalid', reason, message: expect.stringContaining(cause) });
  });

  it('an old signature is refused, and accepted with `--tolerance`', async () => {
    const { run } = await startScene();
    const header = await signWebhook(body, SECRET, { timestamp: Math.floor(Date.now() / 1_000) - 3_000 });
    const args = ['webhooks', 'verify', '--secret', SECRET, '--header', header];
    expect(await run(args, { input: body })).toMatchObject({
      code: 8,
      err: expect.stringContaining('older than --tolerance'),
    });
    expect(await run([...args, '--tolerance', '1h'], { input: body })).toMatchObject({ code: 0 });
  });
});
