import { withDetails } from '../errors/base.ts';
import type { ResponseError } from '../errors/call.ts';
import type { ResolvedOperation } from '../operations.ts';
import type { Reply } from './api-promise.ts';
import type { Envelope } from './envelope.ts';
import { responseError } from './failures.ts';
import type { Settings } from './settings.ts';

/** What a decoder may do besides returning the payload. */
export interface DecodeContext {
  readonly validation: 'lenient' | 'strict';
  readonly envelope: Envelope;
  /** The answer is not what is documented, and cannot be used. */
  fail(problem: string): ResponseError;
  /** One documented field is odd; the data is used all the same. Logged once a field. */
  warn(field: string, problem: string): void;
}

/** Turns the envelope's `data` into the payload. */
export type Decode<T> = (data: unknown, context: DecodeContext) => T | Promise<T>;

/** What the contexts of one transport share. */
export interface DecodeScope {
  readonly settings: Settings;
  /** Operations and fields already warned of. */
  readonly warned: Set<string>;
}

/** The context for one answer of an operation; `key` is the idempotency key of a create. */
export function decodeContext(
  { settings, warned }: DecodeScope,
  operation: ResolvedOperation,
  { answer, envelope, facts }: Reply,
  key: string | undefined,
): DecodeContext {
  return {
    validation: settings.validation,
    envelope,
    fail(problem) {
      const error = responseError(`${operation.name} succeeded, but ${problem}.`, answer, facts);
      if (key === undefined) return error;
      return withDetails(error, { idempotencyKey: key, outcome: 'done' }, 'The create itself succeeded.');
    },
    warn(field, problem) {
      const name = `${operation.name} ${field}`;
      if (warned.has(name)) return;
      warned.add(name);
      const message = `${operation.name}: \`${field}\` is not as documented: ${problem}`;
      settings.logger.warn(message, { operation: operation.name, field });
    },
  };
}
