/**
 * Measures webhook verifications per CPU second, compared with stripe (sync and async) and svix: medians of interleaved
 * rounds.
 *
 *   npm run bench -- webhooks
 */
import { signWebhook, verifyWebhook } from 'audience-activation/webhooks';
import Stripe from 'stripe';
import { Webhook } from 'svix';
import { cpuOf, median, ratioWithRange, valuesOfRounds } from './support/rounds.ts';

const ROUNDS = 15;
const CALLS = 4_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const payload = JSON.stringify({ id: 'evt_1', type: 'audience.completed', data: { text: 'x'.repeat(1_000) } });
const header = await signWebhook(payload, SECRET);
const svix = new Webhook(SECRET);
const sent = new Date();
const svixHeaders = {
  'svix-id': 'msg_1',
  'svix-timestamp': String(Math.floor(sent.getTime() / 1_000)),
  'svix-signature': svix.sign('msg_1', sent, payload),
};

const contenders: Readonly<Record<string, () => unknown>> = {
  'audience-activation': () => verifyWebhook(payload, header, SECRET),
  'stripe, async': () => Stripe.webhooks.constructEventAsync(payload, header, SECRET),
  'stripe, sync': () => Stripe.webhooks.constructEvent(payload, header, SECRET),
  'svix, sync': () => svix.verify(payload, svixHeaders),
};

const times = await valuesOfRounds(contenders, ROUNDS, (call) => cpuOf(call, CALLS));
const own = times.get('audience-activation') ?? [];
for (const [name, each] of times) {
  const perSecond = (1e6 / median(each)).toFixed(0).padStart(7);
  console.log(`${name.padEnd(22)} ${perSecond} a CPU second  ${ratioWithRange(own, each)} x`);
}
