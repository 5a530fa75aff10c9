import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { CallAdditions, EndEvent, Fetch, Hooks, RequestEvent, ResponseEvent, RetryEvent } from '../index.ts';
import { errorType, nameOf, seconds, serverAttributes, templateOf, urlOf } from './attributes.ts';
import type { Targets } from './targets.ts';

interface OpenCall {
  readonly span: Span;
  readonly context: Context;
  /** The context for `fetch`, in which no instrumentation creates another span. */
  fetchContext: Context | undefined;
  /** Span of the request in flight. */
  attempt: Span | undefined;
}

/** Maximum number of ended polls to keep for links. Waits report a poll immediately after its end. */
const REMEMBERED_POLLS = 1_000;

/** Context key that suppresses spans of OpenTelemetry's instrumentation. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Spans of calls and transfers. Each has a child span for each request. */
export class CallSpans implements Pick<Hooks, 'around' | 'onRequest' | 'onResponse' | 'onRetry' | 'onEnd'> {
  readonly #tracer: Tracer;
  readonly #targets: Targets;
  readonly #open = new Map<string, OpenCall>();
  readonly #polls = new Map<string, SpanContext>();

  constructor(tracer: Tracer, targets: Targets) {
    this.#tracer = tracer;
    this.#targets = targets;
  }

  pollOf(callId: string | undefined): SpanContext | undefined {
    return callId === undefined ? undefined : this.#polls.get(callId);
  }

  around(event: RequestEvent, next: (additions?: CallAdditions) => Promise<void>): Promise<void> {
    // A poll runs in the context of one wait, but may serve several waits.
    const parent = event.isPoll ? ROOT_CONTEXT : context.active();
    const { bucket } = event;
    const attributes = {
      ...(bucket && { 'audience_activation.bucket': bucket }),
      ...(event.isPoll && { 'audience_activation.poll': true }),
    };
    const span = this.#tracer.startSpan(nameOf(event), { kind: SpanKind.INTERNAL, attributes }, parent);
    const call: OpenCall = { span, context: trace.setSpan(parent, span), fetchContext: undefined, attempt: undefined };
    this.#open.set(event.callId, call);
    return context.with(call.context, () => next({ wrapFetch: (fetch) => this.#wrap(fetch, call) }));
  }

  onRequest(event: RequestEvent): void {
    const call = this.#open.get(event.callId);
    if (!call) return;
    const { attempt, method } = event;
    const template = templateOf(event);
    const attributes: Attributes = {
      'http.request.method': method,
      ...serverAttributes(event),
      'url.full': urlOf(event),
      ...(template !== undefined && { 'url.template': template }),
      ...(attempt > 1 && { 'http.request.resend_count': attempt - 1 }),
    };
    const name = template === undefined ? method : `${method} ${template}`;
    call.attempt = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, call.context);
  }

  onResponse({ callId, status, requestId }: ResponseEvent): void {
    const call = this.#open.get(callId);
    call?.attempt?.setAttribute('http.response.status_code', status);
    if (requestId !== undefined) call?.attempt?.setAttribute('audience_activation.request_id', requestId);
    endAttempt(call, status >= 400 ? String(status) : undefined);
  }

  onRetry({ callId, reason, error, wait }: RetryEvent): void {
    const call = this.#open.get(callId);
    endAttempt(call, errorType(error));
    call?.span.addEvent('retry', {
      'error.type': errorType(error),
      'audience_activation.retry.reason': reason,
      'audience_activation.retry.delay': seconds(wait),
    });
  }

  onEnd({ callId, isPoll, outcome, error, attempt, status, requestId, queued, backoff }: EndEvent): void {
    const call = this.#open.get(callId);
    if (!call) return;
    this.#open.delete(callId);
    const type = outcome === 'aborted' ? outcome : errorType(error);
    endAttempt(call, type);
    call.span.setAttributes({
      'audience_activation.outcome': outcome,
      'audience_activation.attempts': attempt,
      'audience_activation.queued': seconds(queued),
      'audience_activation.backoff': seconds(backoff),
      ...(status !== undefined && { 'http.response.status_code': status }),
      ...(requestId !== undefined && { 'audience_activation.request_id': requestId }),
      ...(outcome !== 'success' && { 'error.type': type }),
    });
    if (outcome === 'failure') call.span.setStatus({ code: SpanStatusCode.ERROR });
    call.span.end();
    if (isPoll) this.#remember(callId, call.span.spanContext());
  }

  #wrap(fetch: Fetch, call: OpenCall): Fetch {
    call.fetchContext ??= call.context.setValue(SUPPRESS_TRACING, true);
    const { fetchContext } = call;
    return (url, init) => {
      const traced = this.#targets.includes(url) ? withTraceContext(url, init, call) : init;
      return context.with(fetchContext, () => fetch(url, traced));
    };
  }

  #remember(callId: string, poll: SpanContext): void {
    this.#polls.set(callId, poll);
    const [oldest] = this.#polls.keys();
    if (oldest !== undefined && this.#polls.size > REMEMBERED_POLLS) this.#polls.delete(oldest);
  }
}

/** Returns the options of `fetch` with the headers of the trace context added. Keeps existing headers. */
function withTraceContext(url: Parameters<Fetch>[0], init: RequestInit | undefined, call: OpenCall): RequestInit {
  const added: Record<string, string> = {};
  propagation.inject(trace.setSpan(call.context, call.attempt ?? call.span), added);
  const headers = new Headers(init?.headers ?? (url instanceof Request ? url.headers : undefined));
  for (const [name, value] of Object.entries(added)) if (!headers.has(name)) headers.set(name, value);
  return { ...init, headers: Object.fromEntries(headers) };
}

function endAttempt(call: OpenCall | undefined, type: string | undefined): void {
  if (!call?.attempt) return;
  const span = call.attempt;
  call.attempt = undefined;
  if (type !== undefined) span.setAttribute('error.type', type);
  if (type !== undefined && type !== 'aborted') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
