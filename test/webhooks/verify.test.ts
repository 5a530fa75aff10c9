import { describe, expect, it } from 'vitest';
import { WebhookVerificationError } from '../../src/errors/webhook-errors.ts';
import {
  isKnownEvent,
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
} from '../../src/webhooks/index.ts';
import { everything } from '../support/everything.ts';
import { failureOf } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

const SECRET = 'whsec_canary-0123456789';
const NOW = 1_790_000_000;
const now = (): number => NOW * 1_000;
const EVENT = {
  schema_version: 1,
  id: 'evt_1',
  type: 'audience.completed',
  created_at: '2026-11-21T10:00:00Z',
  company_id: 7,
  data: wireAudience(),
};
const BODY = JSON.stringify(EVENT);
/** The event as handlers receive it. */
const RECEIVED = { ...EVENT, data: { ...EVENT.data, is_activation_allowed: true } };
const MAC = (await signWebhook(BODY, SECRET, { timestamp: NOW })).split('v1=')[1] ?? '';

const verify = (
  headers: WebhookHeaders,
  { secrets = SECRET, body = BODY, ...options }: VerifyOptions & { secrets?: string | string[]; body?: string } = {},
) => verifyWebhook(body, headers, secrets, { now, ...options });
const reasonOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const error = await failureOf(promise);
  expect(error).toBeInstanceOf(WebhookVerificationError);
  const shown = everything(error);
  for (const hidden of [SECRET, MAC]) expect(shown).not.toContain(hidden);
  return WebhookVerificationError.isInstance(error) ? error.reason : error;
};

describe('verifyWebhook', () => {
  it('returns the event of a genuine delivery', async () => {
    const event = await verify(`t=${NOW},v1=${MAC}`);
    expect(event).toEqual(RECEIVED);
    if (!isKnownEvent(event) || event.type !== 'audience.completed') throw new Error('It must be known.');
    expect(event.data.status.id).toBe(104);
  });

  it.each([
    ['a string', BODY],
    ['bytes', new TextEncoder().encode(BODY)],
    ['a part of a buffer', new TextEncoder().encode(`xx${BODY}`).subarray(2)],
    ['an ArrayBuffer', new TextEncoder().encode(BODY).buffer],
  ])('accepts the body as %s', async (_, body) => {
    expect(await verifyWebhook(body, `t=${NOW},v1=${MAC}`, SECRET, { now })).toMatchObject({ id: 'evt_1' });
  });

  it.each([
    ['Headers', new Headers({ 'Service-Signature': `t=${NOW},v1=${MAC}` })],
    ['headers of node:http', { 'service-signature': `t=${NOW},v1=${MAC}`, host: 'x' }],
    ['a record of arrays', { 'SERVICE-SIGNATURE': [`t=${NOW}`, `v1=${MAC}`] }],
    ['only the value', `t=${NOW},v1=${MAC}`],
  ])('accepts headers as %s', async (_, headers) => {
    expect(await verify(headers)).toMatchObject({ id: 'evt_1' });
  });

  it('finds the header under the operator’s name', async () => {
    const headers = { 'acme-signature': `t=${NOW},v1=${MAC}` };
    expect(await verify(headers, { headerName: 'Acme-Signature' })).toMatchObject({ id: 'evt_1' });
    expect(await reasonOf(verify(headers))).toBe('missing-header');
  });

  it.each([
    ['any of several signatures', `t=${NOW},v1=${'0'.repeat(64)},v1=${MAC}`],
    ['upper-case digits', `t=${NOW},v1=${MAC.toUpperCase()}`],
    ['spaces after commas', `t=${NOW}, v1=${MAC}`],
    ['unknown keys', `v0=x,t=${NOW},v2=,v1=${MAC}`],
    ['a malformed one beside it', `t=${NOW},v1=zz,v1=${MAC}`],
    ['the time at the end', `v1=${MAC},t=${NOW}`],
  ])('accepts %s', async (_, header) => {
    expect(await verify(header)).toMatchObject({ id: 'evt_1' });
  });

  it('accepts any of several secrets, as during a rotation', async () => {
    expect(await verify(`t=${NOW},v1=${MAC}`, { secrets: ['whsec_new', SECRET] })).toMatchObject({ id: 'evt_1' });
  });

  it.each([
    ['', 'missing-header'],
    ['nonsense', 'malformed-header'],
    [`t=${NOW}`, 'malformed-header'],
    [`v1=${MAC}`, 'malformed-header'],
    [`t=${NOW},t=${NOW},v1=${MAC}`, 'malformed-header'],
    [`t=0${NOW},v1=${MAC}`, 'malformed-header'],
    [`t=${NOW}abc,v1=${MAC}`, 'malformed-header'],
    [`t=-${NOW},v1=${MAC}`, 'malformed-header'],
    [`t=1e9,v1=${MAC}`, 'malformed-header'],
    [`t= ${NOW},v1=${MAC}`, 'malformed-header'],
    [`t=,v1=${MAC}`, 'malformed-header'],
    [`t=${NOW},v1=${MAC},`, 'malformed-header'],
    [`t=${NOW},v1=${MAC}0`, 'malformed-header'],
    [`t=${NOW},v1=${MAC}${',v1=0'.repeat(1_000)}`, 'malformed-header'],
    [`t=${NOW},v1=${'0'.repeat(64)}`, 'no-match'],
    [`t=${NOW + 1},v1=${MAC}`, 'no-match'],
  ])('refuses the header %j', async (header, reason) => {
    expect(await reasonOf(verify(header))).toBe(reason);
  });

  it.each([
    [-301, 'too-old', '301 s ago'],
    [301, 'too-new', '301 s in the future'],
  ])('refuses a delivery that was signed %i s from now and reports the difference', async (seconds, reason, shown) => {
    const header = await signWebhook(BODY, SECRET, { timestamp: NOW + seconds });
    expect(await reasonOf(verify(header))).toBe(reason);
    expect(String(await failureOf(verify(header)))).toContain(shown);
    for (const near of [-300, 300]) {
      expect(await verify(await signWebhook(BODY, SECRET, { timestamp: NOW + near }))).toMatchObject({ id: 'evt_1' });
    }
    expect(await verify(header, { tolerance: 301 })).toMatchObject({ id: 'evt_1' });
  });

  it.each([
    ['a parsed body', EVENT, 'parsed-body', 'express.raw'],
    ['no body', undefined, 'parsed-body', 'missing'],
  ])('refuses %s and reports how to fix it', async (_, body, reason, advice) => {
    const odd: string = JSON.parse(JSON.stringify({ body })).body;
    const call = verifyWebhook(odd, `t=${NOW},v1=${MAC}`, SECRET, { now });
    expect(await reasonOf(call)).toBe(reason);
    expect(String(await failureOf(verifyWebhook(odd, `t=${NOW},v1=${MAC}`, SECRET, { now })))).toContain(advice);
  });

  it.each([
    ['not JSON', 'not-json'],
    ['"text"', 'not-an-event'],
    ['[]', 'not-an-event'],
    ['{"id":"evt_1"}', 'not-an-event'],
    ['{"id":1,"type":"x"}', 'not-an-event'],
  ])('refuses a signed body that is %s', async (body, reason) => {
    const header = await signWebhook(body, SECRET, { timestamp: NOW });
    expect(await reasonOf(verify(header, { body }))).toBe(reason);
  });

  it('reports white space around the secret', async () => {
    const error = await failureOf(verify(`t=${NOW},v1=${MAC}`, { secrets: `${SECRET}\n` }));
    expect(String(error)).toContain('Remove the white space around the secret');
  });

  it.each([[''], [[]], [['x', '']], [undefined]])('throws a ConfigurationError for the secrets %j', async (secrets) => {
    const odd: { secrets: string } = Object.assign(Object.create(null), { secrets });
    expect(await failureOf(verifyWebhook(BODY, 't=1,v1=', odd.secrets))).toMatchObject({ name: 'ConfigurationError' });
  });

  it.each([-1, Number.NaN])('throws a ConfigurationError for the tolerance %d', async (tolerance) => {
    expect(await failureOf(verify('x', { tolerance }))).toMatchObject({ name: 'ConfigurationError' });
  });

  it.each([1.5, -1, 1e12, Number.NaN])('throws a ConfigurationError when signing at %d', async (timestamp) => {
    expect(await failureOf(signWebhook(BODY, SECRET, { timestamp }))).toMatchObject({ name: 'ConfigurationError' });
  });

  it('accepts unknown types, versions and data, for which `isKnownEvent` is false', async () => {
    for (const more of [
      { type: 'audience.renamed' },
      { schema_version: 2 },
      { data: null },
      { data: { id: 'x' } },
      { data: { id: 1 } },
    ]) {
      const body = JSON.stringify({ ...EVENT, ...more });
      const event = await verify(await signWebhook(body, SECRET, { timestamp: NOW }), { body });
      expect(isKnownEvent(event)).toBe(false);
    }
  });

  it('copies the body, so that a caller may overwrite the buffer meanwhile', async () => {
    const body = new TextEncoder().encode(BODY);
    const call = verifyWebhook(body, `t=${NOW},v1=${MAC}`, ['whsec_other', SECRET], { now });
    body.set(new TextEncoder().encode(BODY.replace('evt_1', 'evt_X')));
    expect(await call).toEqual(RECEIVED);
  });

  it('accepts `Headers` of another implementation', async () => {
    const entries: [string, string][] = [['service-signature', `t=${NOW},v1=${MAC}`]];
    const foreign: Headers = Object.assign(Object.create(null), { entries: () => entries[Symbol.iterator]() });
    expect(await verify(foreign)).toMatchObject({ id: 'evt_1' });
  });

  it.each([[{ 'service-signature': null }], [{ 'service-signature': 5 }], [{ 'service-signature': {} }], [null], [5]])(
    'finds no header in %j',
    async (headers) => {
      const odd: { headers: WebhookHeaders } = JSON.parse(JSON.stringify({ headers }));
      expect(await reasonOf(verify(odd.headers))).toBe('missing-header');
    },
  );

  it('refuses a detached buffer', async () => {
    const { buffer } = new TextEncoder().encode(BODY);
    structuredClone(buffer, { transfer: [buffer] });
    expect(await reasonOf(verifyWebhook(buffer, `t=${NOW},v1=${MAC}`, SECRET, { now }))).toMatch(
      /parsed-body|no-match/,
    );
  });
});

it('an unknown option is refused by name', async () => {
  const options = { tolerence: 5 } as object;
  expect(await failureOf(verifyWebhook(BODY, `t=${NOW},v1=${MAC}`, SECRET, options))).toMatchObject({
    name: 'ConfigurationError',
    message: '`tolerence` is not an option of `verifyWebhook`: use tolerance, now, headerName.',
  });
  expect(await failureOf(signWebhook(BODY, SECRET, options))).toMatchObject({
    message: '`tolerence` is not an option of `signWebhook`: use timestamp.',
  });
});
