import { onTestFinished } from 'vitest';
import { AudienceClient, type ClientOptions } from '../../../src/index.ts';
import { type RedisClient, redisWaits } from '../../../src/redis/index.ts';
import { answer } from '../../support/job-service.ts';
import type { AtEnd } from '../../support/redis-server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

/** A read of the service by one of the clients. */
interface SharedRead {
  readonly by: number;
  /** Id of a single audience; absent for a page of the list. */
  readonly id?: number;
}

/** A service with audiences, and clients that share their waits for them. */
export interface SharedService {
  readonly reads: SharedRead[];
  readonly warnings: string[];
  /** Sets the status of an audience, which exists from then on. */
  set(id: number, status: number): void;
  /** Returns an audience as its GET does. */
  show: (id: number) => Record<string, unknown>;
  /** Responds to a read of a client in place of the service, if it returns a response. */
  interfere: (
    by: number,
    id: number | undefined,
    signal: AbortSignal,
  ) => Response | undefined | Promise<Response | undefined>;
  /** Creates the next client on a Redis client. */
  connect(redis: RedisClient, options?: ClientOptions): AudienceClient;
}

const wireTime = (): string => new Date().toISOString().slice(0, 19).replace('T', ' ');

/** Starts a service in this process. Clients with the same `prefix` share their waits. They are closed `atEnd`. */
export function startSharedService(prefix: string, atEnd: AtEnd = onTestFinished): SharedService {
  const states = new Map<number, { readonly status: number; readonly updated: string }>();
  let clients = 0;
  const service: SharedService = {
    reads: [],
    warnings: [],
    interfere: () => undefined,
    set: (id, status) => void states.set(id, { status, updated: wireTime() }),
    show(id) {
      const { status, updated } = states.get(id) ?? { status: 100, updated: wireTime() };
      return { ...wireAudience(id, { id: status, name: `S${status}` }), updated_at: updated };
    },
    connect(redis, options = {}) {
      const by = clients++;
      const warn = (message: unknown): void => void service.warnings.push(String(message));
      const client = new AudienceClient({
        baseUrl: 'http://localhost',
        token: 'secret-token',
        logger: { error: warn, warn, info: () => {}, debug: () => {} },
        waits: { shared: redisWaits(redis, { prefix }) },
        async fetch(input, init) {
          const { url, signal } = new Request(input, init);
          signal.throwIfAborted();
          const { pathname, searchParams } = new URL(url);
          const digits = /\/(\d+)$/.exec(pathname)?.[1];
          const id = digits === undefined ? undefined : Number(digits);
          service.reads.push({ by, ...(id !== undefined && { id }) });
          const response = await service.interfere(by, id, signal);
          if (response) return response;
          if (id !== undefined) return states.has(id) ? answer(service.show(id)) : answer([], 404);
          const start = (Number(searchParams.get('page')) - 1) * 100;
          return answer(
            [...states.keys()]
              .reverse()
              .slice(start, start + 100)
              .map((listed) => service.show(listed)),
          );
        },
        ...options,
      });
      atEnd(() => client.close());
      return client;
    },
  };
  return service;
}
