/**
 * Webhooks verified per second on one core, beside those of stripe (sync and async) and svix: interleaved
 * rounds, medians.
 *
 *   npm run bench:webhooks
 */
import { signWebhook, verifyWebhook } from 'audience-activation/webhooks';
import Stripe from 'stripe';
import { Webhook } from 'svix';

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

/** Calls a second. */
async function measure(call: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  for (let at = 0; at < CALLS; at++) await call();
  const { user, system } = process.cpuUsage(started);
  return (CALLS / (user + system)) * 1e6;
}

const rates = new Map(Object.keys(contenders).map((name) => [name, [] as number[]]));
for (let round = 0; round <= ROUNDS; round++) {
  for (const [name, call] of Object.entries(contenders)) {
    const rate = await measure(call);
    // The first round warms up.
    if (round > 0) rates.get(name)?.push(rate);
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const own = median(rates.get('audience-activation') ?? []);
for (const [name, values] of rates) {
  const rate = median(values);
  console.log(`${name.padEnd(22)} ${rate.toFixed(0).padStart(7)} a CPU second  ${(rate / own).toFixed(2)} x`);
}
