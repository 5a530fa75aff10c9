import fc from 'fast-check';
import Stripe from 'stripe';
import { describe, expect, it } from 'vitest';
import { signWebhook, verifyWebhook } from '../../src/webhooks/index.ts';
import { runs } from '../support/volume.ts';

const { webhooks } = Stripe;
const secrets = fc.string({ unit: 'grapheme-ascii' }).map((rest) => `whsec_${rest}`);
const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 300 }), fc.constant(''));
const bodyOf = (text: string): string => JSON.stringify({ id: 'evt_1', type: 'x', text });
const now = (): number => 1_790_000_000_000;
const timestamp = now() / 1_000;

describe('a signature', () => {
  it('`verifyWebhook` accepts a signature of stripe', async () => {
    await fc.assert(
      fc.asyncProperty(texts, secrets, async (text, secret) => {
        const payload = bodyOf(text);
        const header = webhooks.generateTestHeaderString({ payload, secret, timestamp });
        expect(await verifyWebhook(payload, header, secret, { now })).toMatchObject({ id: 'evt_1' });
        const bytes = new TextEncoder().encode(payload);
        expect(await verifyWebhook(bytes, { 'service-signature': header }, secret, { now })).toMatchObject({
          id: 'evt_1',
        });
      }),
      { numRuns: runs(200, 2_000, 100_000) },
    );
  });

  it('stripe accepts a signature of `signWebhook`', async () => {
    await fc.assert(
      fc.asyncProperty(texts, secrets, async (text, secret) => {
        const payload = bodyOf(text);
        const header = await signWebhook(payload, secret, { timestamp });
        expect(webhooks.constructEvent(payload, header, secret, 300, undefined, now())).toMatchObject({ id: 'evt_1' });
      }),
      { numRuns: runs(200, 2_000, 100_000) },
    );
  });

  it('stripe and `signWebhook` sign a mebibyte equally', async () => {
    const payload = bodyOf('ü'.repeat(2 ** 19));
    const header = webhooks.generateTestHeaderString({ payload, secret: 'x', timestamp });
    expect(await signWebhook(payload, 'x', { timestamp })).toBe(header);
  });

  it('stripe and `signWebhook` sign an empty body equally', async () => {
    expect(await signWebhook('', 'x', { timestamp })).toBe(
      webhooks.generateTestHeaderString({ payload: '', secret: 'x', timestamp }),
    );
  });
});
