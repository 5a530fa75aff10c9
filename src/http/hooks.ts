import { safely } from '../util/callbacks.ts';
import type { ResponseEvent, RetryEvent, Settings } from './request-options.ts';

/** Runs a user's hook; its failure is logged and harms nothing. */
export function watch({ logger }: Settings, hook: () => unknown): void {
  safely(hook, (message) => logger.error(`A hook threw: ${message}`));
}

/** Logs an answer and tells the user's hook of it. */
export function emitResponse(settings: Settings, event: ResponseEvent): void {
  settings.logger.debug(`${event.method} ${event.path} → ${event.status}`, { ...event });
  watch(settings, () => settings.onResponse?.(event));
}

/** Logs a repeat and tells the user's hook of it. */
export function emitRetry(settings: Settings, event: RetryEvent): void {
  const { operation, attempt, error } = event;
  const wait = Math.round(event.wait);
  settings.logger.info(`${operation} is repeated in ${wait} ms: ${error.message}`, { operation, attempt, wait });
  watch(settings, () => settings.onRetry?.(event));
}
