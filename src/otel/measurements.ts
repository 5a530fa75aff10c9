import type { Attributes, Meter, MetricOptions, ObservableResult } from '@opentelemetry/api';
import type { EndEvent, Hooks, RequestEvent, ResponseEvent, RetryEvent, WaitEvent } from '../index.ts';
import type { BuildBudget } from '../spec/usage-report.ts';
import type { DeliveryEvent, DeliveryHooks } from '../webhooks/index.ts';
import { errorType, nameOf, seconds, serverAttributes, templateOf } from './attributes.ts';
import { BucketUse } from './bucket-use.ts';

/**
 * Histogram bucket boundaries in seconds: for requests and deliveries (semantic conventions, "HTTP metrics"), and for
 * calls, waits and their delays (up to one hour).
 */
const REQUEST_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const WAIT_BOUNDS = [0.01, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600];

const durations = (description: string, explicitBucketBoundaries: number[]): MetricOptions => ({
  description,
  unit: 's',
  advice: { explicitBucketBoundaries },
});

interface OpenRequest {
  readonly attributes: Attributes;
  readonly sentAt: number;
}

/** Metrics of calls, waits and deliveries. */
export class Measurements implements Omit<Hooks, 'around'>, Pick<DeliveryHooks, 'onDelivery'> {
  readonly #requestDuration;
  readonly #queued;
  readonly #callDuration;
  readonly #retries;
  readonly #budgetLeft;
  readonly #waits;
  readonly #waitDuration;
  readonly #lateness;
  readonly #deliveries;
  readonly #deliveryDuration;
  readonly #open = new Map<string, OpenRequest>();
  readonly #bucketUse = new BucketUse();

  constructor(meter: Meter) {
    const describe = (description: string, unit: string): MetricOptions => ({ description, unit });
    this.#requestDuration = meter.createHistogram(
      'http.client.request.duration',
      durations('Duration of HTTP client requests.', REQUEST_BOUNDS),
    );
    this.#callDuration = meter.createHistogram(
      'audience_activation.call.duration',
      durations('Duration of calls, uploads and downloads, including queueing and retries.', WAIT_BOUNDS),
    );
    this.#queued = meter.createHistogram(
      'audience_activation.permit.wait',
      durations(
        'Time that calls wait for their token, the build budget and permits of their rate bucket.',
        WAIT_BOUNDS,
      ),
    );
    this.#retries = meter.createCounter('audience_activation.retries', describe('Retries, by reason.', '{retry}'));
    meter
      .createObservableGauge(
        'audience_activation.bucket.use',
        describe('Requests of this process in the last interval of a rate bucket, as a share of its limit.', '1'),
      )
      .addCallback((result) => this.#observeBuckets(result));
    this.#budgetLeft = meter.createGauge(
      'audience_activation.build_budget.left',
      describe('Create requests left in the build budget, according to the last usage report.', '{create}'),
    );
    this.#waits = meter.createUpDownCounter(
      'audience_activation.waits',
      describe('Waits and watches in progress.', '{wait}'),
    );
    this.#waitDuration = meter.createHistogram(
      'audience_activation.wait.duration',
      durations('Duration of waits and watches.', WAIT_BOUNDS),
    );
    this.#lateness = meter.createHistogram(
      'audience_activation.wait.lateness',
      durations('Time from the end of a job until its wait noticed the end.', WAIT_BOUNDS),
    );
    this.#deliveries = meter.createCounter(
      'audience_activation.deliveries',
      describe('Deliveries, by result.', '{delivery}'),
    );
    this.#deliveryDuration = meter.createHistogram(
      'audience_activation.delivery.duration',
      durations('Duration of deliveries, from their receipt to their result.', REQUEST_BOUNDS),
    );
  }

  onRequest(event: RequestEvent): void {
    this.#endRequest(event.callId, {});
    const template = templateOf(event);
    const attributes = {
      'http.request.method': event.method,
      ...serverAttributes(event),
      ...(template !== undefined && { 'url.template': template }),
    };
    this.#open.set(event.callId, { attributes, sentAt: performance.now() });
    const { bucket, rateLimit } = event;
    if (bucket && rateLimit) this.#bucketUse.add(bucket, rateLimit);
  }

  onResponse({ callId, status }: ResponseEvent): void {
    const type = status >= 400 ? { 'error.type': String(status) } : {};
    this.#endRequest(callId, { 'http.response.status_code': status, ...type });
  }

  onRetry(event: RetryEvent): void {
    const type = { 'error.type': errorType(event.error) };
    this.#endRequest(event.callId, type);
    const attributes = {
      'audience_activation.operation': nameOf(event),
      'audience_activation.retry.reason': event.reason,
      ...type,
    };
    this.#retries.add(1, attributes);
  }

  onEnd(event: EndEvent): void {
    const { outcome, error, duration, queued, bucket } = event;
    const type = outcome === 'success' ? {} : { 'error.type': outcome === 'aborted' ? outcome : errorType(error) };
    this.#endRequest(event.callId, type);
    const poll = { 'audience_activation.poll': event.isPoll };
    const attributes = {
      'audience_activation.operation': nameOf(event),
      'audience_activation.outcome': outcome,
      ...poll,
      ...type,
    };
    this.#callDuration.record(seconds(duration), attributes);
    if (bucket) this.#queued.record(seconds(queued), { 'audience_activation.bucket': bucket, ...poll });
  }

  onBuildBudget(budget: BuildBudget): void {
    for (const window of ['hour', 'day'] as const) {
      const { limit, used }: { limit?: unknown; used?: unknown } = Object(budget[window]);
      if (typeof limit !== 'number' || typeof used !== 'number') continue;
      this.#budgetLeft.record(Math.max(0, limit - used), { 'audience_activation.window': window });
    }
  }

  onWait(event: WaitEvent): void {
    const kind = { 'audience_activation.job.kind': event.kind };
    if (event.type === 'started') this.#waits.add(1, kind);
    if (event.type !== 'ended') return;
    const { outcome, duration, lateness, source } = event;
    this.#waits.add(-1, kind);
    this.#waitDuration.record(seconds(duration), { ...kind, 'audience_activation.outcome': outcome });
    if (lateness !== undefined && source) {
      this.#lateness.record(seconds(lateness), { ...kind, 'audience_activation.job.source': source });
    }
  }

  onDelivery(event: DeliveryEvent): void {
    if (event.type === 'received' || event.type === 'verified') return;
    const { eventType } = event;
    const attributes = {
      'audience_activation.delivery.result': event.type,
      ...(eventType !== undefined && { 'audience_activation.event.type': eventType }),
      ...(event.type === 'refused' && { 'error.type': event.reason }),
      ...(event.type === 'failed' && { 'error.type': errorType(event.error) }),
    };
    this.#deliveries.add(1, attributes);
    this.#deliveryDuration.record(seconds(event.duration), attributes);
  }

  #endRequest(callId: string, attributes: Attributes): void {
    const request = this.#open.get(callId);
    if (!request) return;
    this.#open.delete(callId);
    this.#requestDuration.record(seconds(performance.now() - request.sentAt), { ...request.attributes, ...attributes });
  }

  #observeBuckets(result: ObservableResult): void {
    for (const [bucket, share] of this.#bucketUse.shares()) {
      result.observe(share, { 'audience_activation.bucket': bucket });
    }
  }
}
