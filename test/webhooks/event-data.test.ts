import { expect, it } from 'vitest';
import { isEvent } from '../../src/webhooks/events.ts';
import { isKnownEvent, isOutdated, verifyWebhook } from '../../src/webhooks/index.ts';
import { delivery, SECRET, wireEvent } from '../support/deliveries.ts';
import { startBench } from '../support/sandbox.ts';

const MINUTE = 60_000;

it('an event is deeply equal to a GET of the same state, for every kind of job', async () => {
  const requests: Request[] = [];
  const { client, sandbox } = await startBench({
    jobs: { devices: 5_000 },
    deliver: async (request) => {
      requests.push(request);
      return new Response();
    },
  });
  const { secret } = sandbox.webhooks.create({ url: 'https://receiver.example/' });
  const finish = async (kind: 'audience' | 'activation' | 'cohort', id: number, status: number): Promise<void> => {
    sandbox.jobs.finish(kind, id, status);
    await sandbox.advance(1_000);
  };
  const seed = await client.audiences.create({ name: 'Seed' });
  await finish('audience', seed.id, 104);
  await finish('audience', (await client.audiences.create({ name: 'Failing' })).id, 107);
  await client.estimates.create({ name: 'How many?' });
  const definition = { source_audience_id: seed.id, config: { target_size: 9_000 } };
  await client.lookalikes.create({ name: 'Similar', ...definition });
  await sandbox.advance(11 * MINUTE);
  await client.lookalikes.cancel((await client.lookalikes.create({ name: 'Cancelled', ...definition })).id);
  const delivered = { audience_id: seed.id, credentials: 'x' };
  await finish('activation', (await client.activations.create(delivered)).id, 104);
  await finish('activation', (await client.activations.create(delivered)).id, 404);
  for (const status of [4, 5]) {
    const { reference } = await client.uploads.upload({ kind: 'cohort', data: new Blob(['eid\n1\n2\n']) });
    await finish('cohort', (await client.cohorts.create({ upload_reference: reference })).id, status);
  }

  const shown: unknown[] = [];
  for (const request of requests) {
    const event = await verifyWebhook(await request.text(), request.headers, secret, {
      tolerance: 3_600,
      now: sandbox.now,
    });
    if (!isKnownEvent(event) || event.type === 'webhook.test') throw new Error('It must be a known event.');
    const [kind] = event.type.split('.');
    const { id } = event.data;
    const { audiences, lookalikes, activations, cohorts } = client;
    const isLookalike = 'is_lookalike' in event.data && event.data.is_lookalike;
    const namespace =
      kind === 'activation' ? activations : kind === 'cohort' ? cohorts : isLookalike ? lookalikes : audiences;
    expect(event.data).toEqual(await namespace.get(id));
    shown.push([event.type, isLookalike, event.data.status.id, Reflect.get(event.data, 'is_activation_allowed')]);
  }
  expect(shown).toEqual([
    ['audience.completed', false, 104, true],
    ['audience.failed', false, 107, false],
    ['audience.completed', true, 104, true],
    ['audience.failed', true, 400, false],
    ['activation.completed', false, 104, undefined],
    ['activation.failed', false, 404, undefined],
    ['cohort.completed', false, 4, undefined],
    ['cohort.failed', false, 5, undefined],
  ]);
});

it.each([
  ['0 becomes `false`', { is_activation_allowed: 0 }, {}, false],
  ['a boolean is kept', { is_activation_allowed: true }, {}, true],
  ['another value is kept', { is_activation_allowed: 'yes' }, {}, 'yes'],
  ['data of another version are kept', { is_activation_allowed: 1 }, { schema_version: 2 }, 1],
  ['data of a cohort are kept', { is_activation_allowed: 1 }, { type: 'cohort.completed' }, 1],
])('`is_activation_allowed` in the data of an event: %s', async (_, fields, more, expected) => {
  const event = wireEvent('evt_1', more);
  const request = await delivery({ ...event, data: { ...Object(event.data), ...fields } });
  const { data } = await verifyWebhook(await request.text(), request.headers, SECRET);
  expect(data).toHaveProperty('is_activation_allowed', expected);
});

const eventAt = (updated_at: unknown) => {
  const event: unknown = wireEvent('evt_1', { data: { id: 1, updated_at } });
  if (!isEvent(event)) throw new Error('It must be an event.');
  return event;
};

it.each([
  ['2026-11-21 10:00:00', '2026-11-21 10:00:01', true],
  ['2026-11-21 10:00:01', '2026-11-21 10:00:01', false],
  ['2026-11-21 10:00:02', '2026-11-21 10:00:01', false],
  [undefined, '2026-11-21 10:00:01', false],
  ['2026-11-21 10:00:00', undefined, false],
  ['2026-11-21 10:00:00', '2026-11-21T08:00:00.000Z', false],
  ['2026-11-21 10:00:00', '2026-11-21T13:00:00+02:00', true],
  ['2026-11-21 10:00:00', new Date('2026-11-21T10:00:01Z'), true],
  ['2026-11-21 10:00:00', Date.UTC(2026, 10, 21, 9), false],
  ['2026-11-21 10:00:00', null, false],
])('`isOutdated` compares an event of %s with a state of %s: %s', (eventTime, updated_at, outdated) => {
  expect(isOutdated(eventAt(eventTime), { updated_at })).toBe(outdated);
  expect(isOutdated(eventAt(eventTime), undefined)).toBe(false);
});
