import { type Span, type SpanContext, SpanKind, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { Hooks, WaitEvent } from '../index.ts';
import { errorType, seconds } from './attributes.ts';

interface OpenWait {
  readonly span: Span;
  /** The polls that have shown the job of the wait. */
  readonly polls: Set<SpanContext>;
}

/** Maximum number of linked polls. Only the latest polls are linked. The SDK of OpenTelemetry keeps 128 links. */
const MAX_LINKS = 100;

/** Spans of waits and watches, each with links to the polls that served it. */
export class WaitSpans implements Pick<Hooks, 'onWait'> {
  readonly #tracer: Tracer;
  readonly #pollOf: (callId: string | undefined) => SpanContext | undefined;
  readonly #open = new Map<string, OpenWait>();

  /** @param pollOf Returns the context of the span of a poll. */
  constructor(tracer: Tracer, pollOf: (callId: string | undefined) => SpanContext | undefined) {
    this.#tracer = tracer;
    this.#pollOf = pollOf;
  }

  onWait(event: WaitEvent): void {
    const { waitId, kind, id } = event;
    if (event.type === 'started') {
      const attributes = { 'audience_activation.job.kind': kind, 'audience_activation.job.id': id };
      const span = this.#tracer.startSpan(`wait ${kind}`, { kind: SpanKind.INTERNAL, attributes });
      this.#open.set(waitId, { span, polls: new Set() });
      return;
    }
    const wait = this.#open.get(waitId);
    if (!wait) return;
    const { span, polls } = wait;
    if (event.type === 'polled') {
      const poll = this.#pollOf(event.callId);
      if (poll) polls.add(poll);
      const [oldest] = polls;
      if (oldest && polls.size > MAX_LINKS) polls.delete(oldest);
    } else if (event.type === 'changed') {
      const { source, status } = event;
      span.addEvent('status', { 'audience_activation.job.status': status, 'audience_activation.job.source': source });
    } else {
      this.#open.delete(waitId);
      const { outcome, status, source, lateness, error } = event;
      span.setAttributes({
        'audience_activation.outcome': outcome,
        ...(status !== undefined && { 'audience_activation.job.status': status }),
        ...(source !== undefined && { 'audience_activation.job.source': source }),
        ...(lateness !== undefined && { 'audience_activation.lateness': seconds(lateness) }),
        ...(outcome !== 'completed' && { 'error.type': outcome === 'failure' ? errorType(error) : outcome }),
      });
      if (outcome !== 'completed' && outcome !== 'aborted') span.setStatus({ code: SpanStatusCode.ERROR });
      span.addLinks([...polls].map((poll) => ({ context: poll })));
      span.end();
    }
  }
}
