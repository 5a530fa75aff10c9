import { vi } from 'vitest';

/** Repeats a check until it passes. The time it may take is for a busy machine; an idle one needs a moment. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 15_000 });
