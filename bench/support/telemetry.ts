import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { ClientOptions } from 'audience-activation';
import { openTelemetry } from 'audience-activation/otel';

/** Starts the SDK of OpenTelemetry: spans are exported in batches and discarded, metrics stay in memory. */
export function startTelemetry(): { telemetry: ClientOptions['telemetry']; shutdown: () => Promise<unknown> } {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const nowhere: SpanExporter = { export: (_, done) => done({ code: 0 }), shutdown: async () => {} };
  const tracerProvider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter: nowhere })] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  return {
    telemetry: openTelemetry({ tracerProvider, meterProvider }),
    shutdown: () => Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]),
  };
}
