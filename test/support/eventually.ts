import { vi } from 'vitest';

/** Time for a condition that holds within a second on a quiet machine. */
const CONDITION_MS = 180_000;

/** Retries a check until it passes. If it never does, the error begins with the check. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  try {
    return await vi.waitFor(check, { timeout: CONDITION_MS, interval: 10 });
  } catch (cause) {
    const message = `Waited ${CONDITION_MS / 1_000} s for ${sourceOf(check)}: ${Object(cause).message}`;
    throw new Error(message, { cause });
  }
}

/** Returns the source of a check without what vitest has added to it. */
const sourceOf = (check: () => unknown): string =>
  String(check)
    .replace(/^(?:async )?\(\) => /, '')
    .replaceAll(/\(0, ?__vi_import_\d+__\.(\w+)\)|__vi_import_\d+__\./g, '$1')
    .replaceAll(/\s+/g, ' ');
