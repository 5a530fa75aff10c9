import { afterEach, expect, vi } from 'vitest';
import type { HandledRequest } from '../../src/sandbox/service.ts';
import type { Exchange } from './contract.ts';

/**
 * Compares everything that clients and sandboxes exchange in the tests with the OpenAPI document: every response of a
 * sandbox without an injected fault, and every request of this package that was not refused.
 */
const violations = vi.hoisted((): Set<string> => {
  // The files of a worker share the modules that are mocked by the first of them.
  const shared: typeof globalThis & { contractViolations?: Set<string> } = globalThis;
  shared.contractViolations ??= new Set();
  return shared.contractViolations;
});

vi.mock('../../src/sandbox/app.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/sandbox/app.ts')>();
  const { isDescribed, requestViolations, responseViolations } = await import('./contract.ts');

  function check(exchange: Exchange): void {
    for (const violation of responseViolations(exchange)) violations.add(violation);
    const isOurs = exchange.headers.get('user-agent')?.startsWith('audience-activation/') ?? false;
    if (!isOurs || exchange.status >= 400) return;
    for (const violation of requestViolations(exchange)) violations.add(violation);
  }

  return {
    ...original,
    createApp(service: Parameters<typeof original.createApp>[0]) {
      const app = original.createApp(service);
      // The document is another one then: tests of contracts compare with that one.
      if (service.contract) return app;
      const { fetch } = app;
      const handled = new Map<string, HandledRequest>();
      service.observers.add({ onRequest: (request) => handled.set(request.entry.id, request) });
      app.fetch = async (...args) => {
        const result = await fetch(...args);
        const id = result.headers.get('x-request-id') ?? '';
        const request = handled.get(id);
        handled.delete(id);
        if (!request?.isRoot || request.entry.fault !== undefined) return result;
        const { entry, url, headers, response } = request;
        if (!isDescribed(entry.method, url)) return result;
        const body = request.body && new TextDecoder().decode(request.body);
        const { status, headers: responseHeaders } = result;
        check({ method: entry.method, url, headers, body, status, responseHeaders, response });
        return result;
      };
      return app;
    },
  };
});

afterEach(() => {
  const all = [...violations];
  violations.clear();
  expect(all).toEqual([]);
});
