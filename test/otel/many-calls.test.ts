import { DiagLogLevel, diag } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EndEvent, RetryEvent } from '../../src/index.ts';
import { seeded } from '../support/seeded.ts';
import { clientOf } from '../support/server.ts';
import { runs } from '../support/volume.ts';
import { failingFetch } from './failing-fetch.ts';
import { countOf, idOf, parentOf, startTelemetry, withOpenTelemetry } from './support/telemetry.ts';

const undici = withOpenTelemetry();

const CALLS = runs(300, 10_000);

describe(`${CALLS} calls, of whose requests 35 % fail, and some of which are aborted`, () => {
  it('each have one span that ends once, as each of their requests, and metrics that add up', async () => {
    const random = seeded('telemetry');
    const sdk = startTelemetry(undici());
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    diag.setLogger({ error: warn, warn, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
    onTestFinished(() => diag.disable());
    const ends: EndEvent[] = [];
    const retries: RetryEvent[] = [];
    let requests = 0;
    const options = { fetch: failingFetch(random, 0.35), telemetry: sdk.telemetry };
    const client = clientOf(
      { url: 'http://127.0.0.1:1' },
      {
        ...options,
        onRequest: () => void requests++,
        onRetry: (event) => retries.push(event),
        onEnd: (event) => ends.push(event),
        maxRetries: 2,
        timeout: 20,
        rateLimits: false,
      },
    );
    let left = CALLS;
    const work = async (): Promise<void> => {
      while (left-- > 0) {
        const controller = new AbortController();
        const { signal } = controller;
        const timer = random() < 0.1 ? setTimeout(() => controller.abort(), random() * 5) : undefined;
        await client.webhooks.list({ signal }).then(
          () => {},
          () => {},
        );
        clearTimeout(timer);
      }
    };
    await Promise.all(Array.from({ length: 100 }, work));

    const calls = sdk.named('webhooks.list');
    const attempts = sdk.named('GET /api/v2/webhooks/index');
    expect(ends).toHaveLength(CALLS);
    expect(new Set(ends.map(({ outcome }) => outcome))).toEqual(new Set(['success', 'failure', 'aborted']));
    expect(calls).toHaveLength(CALLS);
    expect(attempts).toHaveLength(requests);
    expect(sdk.started.toSorted()).toEqual([...calls, ...attempts].map(idOf).toSorted());
    const above = new Set(calls.map(idOf));
    expect(attempts.every((span) => above.has(parentOf(span) ?? ''))).toBe(true);
    // Ending a span twice makes the SDK warn.
    expect(warnings).toEqual([]);

    expect(countOf(await sdk.points('http.client.request.duration'))).toBe(requests);
    expect(countOf(await sdk.points('audience_activation.retries'))).toBe(retries.length);
    expect(countOf(await sdk.points('audience_activation.permit.wait'))).toBe(CALLS);
    const durations = await sdk.points('audience_activation.call.duration');
    for (const outcome of ['success', 'failure', 'aborted']) {
      const points = durations.filter(({ attributes }) => attributes['audience_activation.outcome'] === outcome);
      expect(countOf(points)).toBe(ends.filter((end) => end.outcome === outcome).length);
    }
  });
});
