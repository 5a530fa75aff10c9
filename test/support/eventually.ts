import { vi } from 'vitest';

/** Retries a check until it passes, for up to 15 seconds, which only a busy machine needs. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 15_000 });
