import type { HrTime } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';

const milliseconds = ([seconds, nanoseconds]: HrTime): number => seconds * 1_000 + nanoseconds / 1_000_000;

/** Attributes that say most about a span of this package. */
const SHOWN = [
  'http.response.status_code',
  'http.request.resend_count',
  'error.type',
  'audience_activation.outcome',
  'audience_activation.job.source',
  'messaging.message.id',
];

/** Prints the spans of all traces as trees, in order of their start. */
export function printTraces(spans: readonly ReadableSpan[]): void {
  const byStart = [...spans].sort((a, b) => milliseconds(a.startTime) - milliseconds(b.startTime));
  const ids = new Set(spans.map((span) => span.spanContext().spanId));
  const print = (span: ReadableSpan, depth: number): void => {
    const shown = SHOWN.flatMap((name) => {
      const value = span.attributes[name];
      return value === undefined ? [] : `${name.split('.').at(-1)}=${value}`;
    });
    const links = span.links.length > 0 ? [`polls=${span.links.length}`] : [];
    const duration = `${milliseconds(span.duration).toFixed(0)} ms`;
    console.log([`${'  '.repeat(depth)}${span.name}`, duration, ...shown, ...links].join('  '));
    for (const child of byStart) {
      if (child.parentSpanContext?.spanId === span.spanContext().spanId) print(child, depth + 1);
    }
  };
  for (const span of byStart) {
    const { parentSpanContext } = span;
    if (parentSpanContext === undefined || !ids.has(parentSpanContext.spanId)) print(span, 0);
  }
}
