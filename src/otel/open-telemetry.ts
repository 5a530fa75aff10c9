import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import type { Hooks } from '../index.ts';
import { anyOption, optionChecker, optionOf } from '../util/options.ts';
import { VERSION } from '../util/version.ts';
import type { DeliveryHooks } from '../webhooks/index.ts';
import { CallSpans } from './call-spans.ts';
import { HandlerSpans } from './handler-spans.ts';
import { Measurements } from './measurements.ts';
import { Targets } from './targets.ts';
import { WaitSpans } from './wait-spans.ts';

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Provider of the tracer that records spans. @default the global provider */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Provider of the meter that records metrics.
   *
   * @default the global provider at the call of `openTelemetry`
   */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Servers that receive trace context headers, such as `traceparent`: origins, or patterns that match URLs without
   * query. In browsers, these servers must allow the headers (CORS).
   *
   * @default none
   */
  readonly propagate?: readonly (string | RegExp)[] | undefined;
}

/** Value of the `telemetry` options of `AudienceClient`, `connectMcp` and `createWebhookReceiver`. */
export type Telemetry = Hooks & DeliveryHooks;

const hasMethod = (name: string) => (value: unknown) => typeof Object(value)[name] === 'function';

const checkOptions = optionChecker<OpenTelemetryOptions>('openTelemetry', {
  tracerProvider: optionOf(hasMethod('getTracer'), 'must be a `TracerProvider`'),
  meterProvider: optionOf(hasMethod('getMeter'), 'must be a `MeterProvider`'),
  propagate: anyOption,
});

/**
 * Traces and measures calls, waits and deliveries with OpenTelemetry. Attributes contain no token, body, query or error
 * message.
 *
 * @throws {ConfigurationError} for an unknown or invalid option.
 *
 * @example
 * const telemetry = openTelemetry();
 * const client = new AudienceClient({ telemetry });
 * const receiver = createWebhookReceiver({ secrets, telemetry });
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): Telemetry {
  const { tracerProvider = trace, meterProvider = metrics, propagate = [] } = checkOptions(options);
  const tracer = tracerProvider.getTracer('audience-activation', VERSION);
  const measurements = new Measurements(meterProvider.getMeter('audience-activation', VERSION));
  const calls = new CallSpans(tracer, new Targets(propagate));
  const waits = new WaitSpans(tracer, (callId) => calls.pollOf(callId));
  const handlers = new HandlerSpans(tracer);
  return {
    around: (event, next) => calls.around(event, next),
    onRequest(event) {
      calls.onRequest(event);
      measurements.onRequest(event);
    },
    onResponse(event) {
      calls.onResponse(event);
      measurements.onResponse(event);
    },
    onRetry(event) {
      calls.onRetry(event);
      measurements.onRetry(event);
    },
    onEnd(event) {
      calls.onEnd(event);
      measurements.onEnd(event);
    },
    onWait(event) {
      waits.onWait(event);
      measurements.onWait(event);
    },
    onBuildBudget: (budget) => measurements.onBuildBudget(budget),
    onDelivery: (event) => measurements.onDelivery(event),
    aroundHandler: (delivery, next) => handlers.aroundHandler(delivery, next),
  };
}
