import { vi } from 'vitest';

/** Retries a check until it passes, for up to a minute, which only a busy machine needs. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 60_000, interval: 10 });
