import { context, propagation, type SpanContext } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { type DataPoint, type Histogram, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type OpenTelemetryOptions, openTelemetry, type Telemetry } from '../../../src/otel/index.ts';

/** Collects metrics when it is asked to. */
class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

/** The SDK of OpenTelemetry for Node, and telemetry that reports to it. */
export interface TestTelemetry {
  readonly telemetry: Telemetry;
  readonly tracerProvider: TracerProvider;
  /** Ids of the spans that have been started. */
  readonly started: readonly string[];
  /** Spans that have ended, in order of their end. */
  spans(): ReadableSpan[];
  /** Returns the spans of that name. */
  named(name: string | RegExp): ReadableSpan[];
  /** Returns the data points of a metric of this package. */
  points(metric: string): Promise<DataPoint<number | Histogram>[]>;
  /** Returns everything that has been recorded, as text. */
  everything(): Promise<string>;
}

/** Has the tests of a file run with async contexts, trace context in headers, and undici's own instrumentation. */
export function withOpenTelemetry(): () => UndiciInstrumentation {
  const instrumentation = new UndiciInstrumentation();
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    instrumentation.enable();
  });
  afterAll(() => {
    instrumentation.disable();
    context.disable();
    propagation.disable();
  });
  return () => instrumentation;
}

/** Starts the SDK in memory. */
export function startTelemetry(
  instrumentation: UndiciInstrumentation,
  options: Pick<OpenTelemetryOptions, 'propagate'> = {},
): TestTelemetry {
  const exporter = new InMemorySpanExporter();
  const started: string[] = [];
  const counter: SpanProcessor = {
    onStart: (span) => void started.push(idOf(span)),
    onEnd() {},
    forceFlush: async () => {},
    shutdown: async () => {},
  };
  const tracerProvider = new TracerProvider({ spanProcessors: [counter, new SimpleSpanProcessor({ exporter })] });
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  instrumentation.setTracerProvider(tracerProvider);
  instrumentation.setMeterProvider(meterProvider);
  onTestFinished(() => tracerProvider.shutdown());
  const spans = (): ReadableSpan[] => exporter.getFinishedSpans();
  const collect = async () => (await reader.collect()).resourceMetrics.scopeMetrics;
  return {
    telemetry: openTelemetry({ tracerProvider, meterProvider, ...options }),
    tracerProvider,
    started,
    spans,
    named: (name) => spans().filter((span) => (name instanceof RegExp ? name.test(span.name) : span.name === name)),
    async points(metric) {
      const own = (await collect()).filter(({ scope }) => scope.name === 'audience-activation');
      const data = own.flatMap(({ metrics }) => metrics).filter(({ descriptor }) => descriptor.name === metric);
      return data.flatMap(({ dataPoints }): DataPoint<number | Histogram>[] =>
        dataPoints.map((point) => point as DataPoint<number | Histogram>),
      );
    },
    async everything() {
      const recorded = spans().map(({ name, attributes, events, links, status, resource }) => ({
        name,
        attributes,
        events,
        links,
        status,
        resource: resource.attributes,
      }));
      return JSON.stringify([recorded, await collect()]);
    },
  };
}

/** Returns the id of the span above. */
export const parentOf = ({ parentSpanContext }: ReadableSpan): string | undefined => parentSpanContext?.spanId;

export const idOf = (span: { spanContext(): SpanContext }): string => span.spanContext().spanId;

/** Returns the number of measurements of a histogram, or the sum of a counter. */
export const countOf = (points: readonly DataPoint<number | Histogram>[]): number =>
  points.reduce((sum, { value }) => sum + (typeof value === 'number' ? value : value.count), 0);
