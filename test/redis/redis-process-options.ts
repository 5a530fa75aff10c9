import type { ClientKind } from '../support/redis-clients.ts';

/** Argument of `redis-process.ts`. */
export interface RedisProcessOptions {
  readonly kind: ClientKind;
  readonly redisUrl: string;
  readonly key: string;
  readonly lease?: number;
  /** URL of the sandbox. */
  readonly baseUrl?: string;
  readonly credentials?: { readonly email: string; readonly password: string };
  /** How long the action `hold` keeps the lock, in milliseconds. */
  readonly hold?: number;
}
