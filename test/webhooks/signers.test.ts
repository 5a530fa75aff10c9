import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWebhookReceiver, signWebhook, verifyWebhook } from '../../src/webhooks/index.ts';
import { failureOf } from '../support/server.ts';
import { runs } from '../support/volume.ts';
import { hideNodeCrypto } from './signers.ts';

const timestamp = 1_790_000_000;
const now = (): number => timestamp * 1_000;
const SECRET = 'whsec_canary-0123456789';
const BODY = JSON.stringify({ id: 'evt_1', type: 'x', text: 'é €' });
const HEADER = `t=${timestamp},v1=09c780c873296f39a01e9711b4f069b903e3c05ecdca760f40cd2229b4fad2bc`;

/** Any UTF-16, also halves of surrogate pairs, which do not encode a character. */
const text = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
  .map((units) => String.fromCharCode(...units));

const SIGNERS = ['node:crypto', 'WebCrypto'] as const;

describe.each(SIGNERS)('%s', (signer) => {
  /** Lets the package sign with one of the two; returns how many signatures WebCrypto has made. */
  function useSigner(): () => number {
    if (signer === 'WebCrypto') hideNodeCrypto();
    const sign = vi.spyOn(crypto.subtle, 'sign');
    onTestFinished(() => sign.mockRestore());
    return () => sign.mock.calls.length;
  }
  const expected = signer === 'WebCrypto' ? 1 : 0;

  it('signs a delivery, which both verify', async () => {
    const signatures = useSigner();
    expect(await signWebhook(BODY, SECRET, { timestamp })).toBe(HEADER);
    expect(signatures()).toBe(expected);
  });

  it('verifies a delivery in `verifyWebhook` and in a receiver, and refuses another one', async () => {
    const signatures = useSigner();
    expect(await verifyWebhook(BODY, HEADER, SECRET, { now })).toMatchObject({ id: 'evt_1' });
    expect(signatures()).toBe(expected);
    expect(await failureOf(verifyWebhook(`${BODY} `, HEADER, SECRET, { now }))).toMatchObject({ reason: 'no-match' });
    expect(await failureOf(verifyWebhook(BODY, HEADER, `${SECRET}0`, { now }))).toMatchObject({ reason: 'no-match' });
    const receiver = createWebhookReceiver({ secrets: SECRET, now, on: {} });
    const init = { method: 'POST', body: BODY, headers: { 'service-signature': HEADER } };
    expect((await receiver.handle(new Request('http://localhost/', init))).status).toBe(200);
  });
});

it('node:crypto and WebCrypto make the same signature of any body with any secret', async () => {
  const body = fc.oneof(text, fc.uint8Array({ maxLength: 2_000 }));
  const secret = text.filter((one) => one !== '');
  await fc.assert(
    fc.asyncProperty(body, secret, async (...delivery) => {
      const byNode = await signWebhook(...delivery, { timestamp });
      const restore = hideNodeCrypto();
      expect(await signWebhook(...delivery, { timestamp })).toBe(byNode);
      restore();
    }),
    { numRuns: runs(50, 500, 20_000) },
  );
});
