import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { startJobService } from '../support/job-service.ts';
import { failureOf } from '../support/server.ts';
import { idOf, parentOf, startTelemetry, withOpenTelemetry } from './support/telemetry.ts';

const undici = withOpenTelemetry();

describe('in virtual time', () => {
  const time = inVirtualTime();

  function start(options: ClientOptions = {}) {
    const sdk = startTelemetry(undici());
    return { ...sdk, ...startJobService({ client: { telemetry: sdk.telemetry, ...options } }) };
  }

  describe('a wait', () => {
    it('has a span below the span of its caller, with a link to each poll that served it', async () => {
      const { client, add, set, named, tracerProvider } = start();
      const ids = add(3);
      const callers = ids.map((id) => tracerProvider.getTracer('test').startSpan(`caller ${id}`));
      const waits = ids.map((id, at) => {
        const caller = callers[at] ?? trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 });
        return context.with(trace.setSpan(context.active(), caller), () => client.audiences.wait(id));
      });
      await time.pass(20_000);
      for (const id of ids) set(id, 104);
      await time.until(Promise.all(waits));
      const spans = named('wait audience');
      const polls = named('audiences.list');
      expect(polls.length).toBeGreaterThan(1);
      expect(polls.every((poll) => poll.parentSpanContext === undefined)).toBe(true);
      expect(spans.map(parentOf).sort()).toEqual(callers.map(idOf).sort());
      for (const span of spans) {
        expect(span.links.map((link) => link.context.spanId)).toEqual(polls.map(idOf));
        expect(span).toMatchObject({
          kind: SpanKind.INTERNAL,
          status: { code: SpanStatusCode.UNSET },
          attributes: {
            'audience_activation.job.kind': 'audience',
            'audience_activation.outcome': 'completed',
            'audience_activation.job.status': 104,
            'audience_activation.job.source': 'list',
            'audience_activation.lateness': expect.any(Number),
          },
        });
        expect(span.events.map(({ attributes }) => attributes?.['audience_activation.job.status'])).toEqual([100, 104]);
      }
    });

    it('a wait of ten minutes is linked to its latest hundred polls', async () => {
      const { client, add, named } = start();
      const [id = 0] = add(1);
      const waiting = failureOf(client.audiences.wait(id, { timeout: 600_000 }));
      await time.until(waiting);
      const polls = named('audiences.get').map(idOf);
      const [span] = named('wait audience');
      expect(polls.length).toBeGreaterThan(100);
      expect(span?.links.map((link) => link.context.spanId)).toEqual(polls.slice(-100));
      expect(span).toMatchObject({ attributes: { 'error.type': 'timeout' }, status: { code: SpanStatusCode.ERROR } });
    });

    it('a wait that is aborted has a span without an error; a wait whose polls fail has the class of their error', async () => {
      const { client, add, remove, named } = start();
      const [id = 0, gone = 0] = add(2);
      const controller = new AbortController();
      const aborted = failureOf(client.audiences.wait(id, { signal: controller.signal }));
      await time.pass(1_000);
      controller.abort();
      await aborted;
      remove(gone);
      await time.until(failureOf(client.audiences.wait(gone)));
      expect(named('wait audience').map(({ attributes, status }) => [attributes['error.type'], status.code])).toEqual([
        ['aborted', SpanStatusCode.UNSET],
        ['not-found', SpanStatusCode.ERROR],
      ]);
    });
  });
});
