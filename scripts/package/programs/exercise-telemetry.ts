import { type Span, type SpanOptions, type Tracer, trace } from '@opentelemetry/api';
import { AudienceClient } from 'audience-activation';
import { openTelemetry } from 'audience-activation/otel';
import { check } from './check.ts';

/** Traces a call of a client without a service; the SDK of OpenTelemetry is not needed. */
export async function exerciseTelemetry(): Promise<void> {
  const names: string[] = [];
  const context = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 };
  const startSpan = (name: string, _options?: SpanOptions): Span => {
    names.push(name);
    return trace.wrapSpanContext(context);
  };
  const tracer: Tracer = { startSpan, startActiveSpan: () => undefined as never };
  const client = new AudienceClient({
    baseUrl: 'https://api.example.com',
    token: 'token',
    fetch: async () => Response.json({ status: 'success', code: 200, message: '', data: [] }),
    telemetry: openTelemetry({ tracerProvider: { getTracer: () => tracer }, propagate: ['https://api.example.com'] }),
  });
  const endpoints = await client.webhooks.list();
  check(endpoints.length === 0, 'the call has succeeded');
  check(names.join() === 'webhooks.list,GET /api/v2/webhooks/index', `the spans are ${names.join()}`);
  await client.close();
}
