import type { RequestHandler } from 'msw';
import { ConnectionCut } from '../faults.ts';
import type { Service } from '../service.ts';
import { createStorage } from '../storage/presigned-storage.ts';
import { createApp } from './app.ts';
import { type Listening, type ListenOptions, listen } from './listen.ts';
import { createHandler } from './msw-handlers.ts';

/** The ways in which requests reach a sandbox, and their end. */
export interface Forms {
  /**
   * Answers one request, in process, to the API or to the storage that presigned URLs point to: a `fetch` for clients,
   * also with its errors. Login and mint buckets go by the header `X-Forwarded-For`.
   */
  readonly fetch: (input: Request | URL | string, init?: RequestInit) => Promise<Response>;
  /** Request handlers of msw 3, for `setupServer(...sandbox.handlers)` and `setupWorker`. */
  readonly handlers: RequestHandler[];
  /** Serves it over HTTP, on loopback unless told; storage, where files go in and out, on a port of its own. */
  listen(options?: ListenOptions): Promise<Listening>;
  /** Stops listening, timers and deliveries; later requests fail. */
  close(): Promise<void>;
}

/** What a service is reached by. */
export function formsOf(service: Service, origin: string | undefined): Forms {
  const app = createApp(service);
  const storage = createStorage(service);
  const { state, clock, webhooks, ended } = service;
  const inProcess = state.storageUrl;
  const listenings = new Set<Listening>();
  const isStorage = (origin: string): boolean =>
    origin === inProcess || [...listenings].some(({ storageUrl }) => origin === storageUrl);
  const answer = async (request: Request): Promise<Response> => {
    if (ended.signal.aborted) throw new ConnectionCut();
    const address = request.headers.get('x-forwarded-for') ?? '127.0.0.1';
    return (isStorage(new URL(request.url).origin) ? storage : app).fetch(request, { address });
  };
  const drop = async (listening: Listening): Promise<void> => {
    listenings.delete(listening);
    state.storageUrl = [...listenings].at(-1)?.storageUrl ?? inProcess;
    await listening.close();
  };
  return {
    fetch: async (input, init) => asFetch(answer, new Request(input, init)),
    handlers: [createHandler({ answer, origin, isStorage })],
    async listen(where = {}) {
      const listening = ended.signal.aborted ? undefined : await listen(app.fetch, storage.fetch, where);
      if (listening && !ended.signal.aborted) {
        listenings.add(listening);
        state.storageUrl = listening.storageUrl;
        return { ...listening, close: () => drop(listening) };
      }
      await listening?.close();
      throw new Error('The sandbox is closed.');
    },
    async close() {
      ended.abort();
      clock.stop();
      webhooks.stop();
      await Promise.all([...listenings].map(drop));
    },
  };
}

/** Rejects as `fetch` does: with the signal's reason when aborted, with a `TypeError` when the connection is cut. */
async function asFetch(answer: (request: Request) => Promise<Response>, request: Request): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  let left = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    left = () => reject(signal.reason);
    signal.addEventListener('abort', left, { once: true });
  });
  try {
    return await Promise.race([answer(request), aborted]);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (!(error instanceof ConnectionCut)) throw error;
    const begun = error.toResponse();
    if (begun) return begun;
    throw new TypeError('fetch failed', { cause: error });
  } finally {
    signal.removeEventListener('abort', left);
  }
}
