import type { ClientKind } from './redis-clients.ts';

/** What a process of this program is told by its argument. */
export interface RedisProcessOptions {
  readonly kind: ClientKind;
  readonly redisUrl: string;
  readonly key: string;
  readonly lease?: number;
  /** The sandbox. */
  readonly baseUrl?: string;
  readonly credentials?: { readonly email: string; readonly password: string };
  /** How long the lock is held. Milliseconds. */
  readonly hold?: number;
}
