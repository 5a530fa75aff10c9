import { readFile } from 'node:fs/promises';
import { DataPointType, MeterProvider, type MetricData, MetricReader } from '@opentelemetry/sdk-metrics';
import { expect, it } from 'vitest';
import type { EndEvent, RequestEvent } from '../../src/index.ts';
import { openTelemetry } from '../../src/otel/index.ts';

class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

const call: RequestEvent = {
  callId: 'call_1',
  operation: 'audiences.get',
  method: 'GET',
  baseUrl: 'https://api.example.com',
  path: '/api/v2/audiences/1',
  pathTemplate: '/api/v2/audiences/{id}',
  bucket: 'read',
  rateLimit: { limit: 120, interval: 60_000 },
  isPoll: false,
  attempt: 1,
};
const error = Object.assign(new Error('unavailable'), { code: 'server-error' });
const end: EndEvent = { ...call, outcome: 'failure', error, duration: 1, queued: 1, backoff: 0 };
const wait = { waitId: 'wait_1', kind: 'audience', id: 1 } as const;

/** Returns the names that Prometheus gives to a metric received by OTLP, and those of its labels. */
function prometheusNames({ descriptor, dataPointType, dataPoints }: MetricData): string[] {
  const unit = { s: '_seconds', '1': '_ratio' }[descriptor.unit] ?? '';
  const name = `${descriptor.name}${unit}`;
  const names = {
    [DataPointType.HISTOGRAM]: ['bucket', 'count', 'sum'].map((part) => `${name}_${part}`),
    [DataPointType.EXPONENTIAL_HISTOGRAM]: [name],
    [DataPointType.GAUGE]: [name],
    [DataPointType.SUM]: [name, `${name}_total`],
  }[dataPointType];
  const labels = dataPoints.flatMap(({ attributes }) => Object.keys(attributes));
  return [...names, ...labels].map((one) => one.replaceAll('.', '_'));
}

/** Returns the names of all metrics and labels. */
async function exportAll(): Promise<Set<string>> {
  const reader = new Reader();
  const telemetry = openTelemetry({ meterProvider: new MeterProvider({ readers: [reader] }) });
  telemetry.onRequest?.(call);
  telemetry.onRetry?.({ ...call, reason: 'transient', error, wait: 1 });
  telemetry.onEnd?.(end);
  telemetry.onBuildBudget?.({ hour: { limit: 2, used: 1 }, day: { limit: 2, used: 1 } });
  telemetry.onWait?.({ ...wait, type: 'started' });
  telemetry.onWait?.({ ...wait, type: 'ended', outcome: 'completed', source: 'list', duration: 1, lateness: 1 });
  telemetry.onDelivery?.({ deliveryId: 'delivery_1', type: 'handled', duration: 1 });
  const { scopeMetrics } = (await reader.collect()).resourceMetrics;
  return new Set(scopeMetrics.flatMap(({ metrics }) => metrics).flatMap(prometheusNames));
}

/** Returns the names of metrics and labels in a query. */
const namesIn = (query: string): string[] => query.match(/\b(?:audience_activation|http|url|error|otel)_\w+/g) ?? [];

it('the dashboard and the alert rule use only metrics and labels that exist', async () => {
  const exported = await exportAll();
  const dashboard = JSON.parse(await readFile('examples/telemetry/dashboard.json', 'utf8'));
  const panels: { targets: { expr: string; legendFormat: string }[] }[] = dashboard.panels;
  const targets = panels.flatMap((panel) => panel.targets);
  const names = [
    ...targets.flatMap(({ expr, legendFormat }) => [...namesIn(expr), ...namesIn(legendFormat)]),
    ...namesIn(await readFile('examples/telemetry/alerts.yaml', 'utf8')),
  ];
  expect(targets).toHaveLength(12);
  expect(names.length).toBeGreaterThan(30);
  expect([...new Set(names)].filter((name) => !exported.has(name))).toEqual([]);
});
