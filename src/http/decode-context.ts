import { withDetails } from '../errors/audience-error.ts';
import { ResponseError } from '../errors/call-errors.ts';
import type { ResolvedOperation } from '../spec/operations.ts';
import type { Reply } from './api-promise.ts';
import type { Envelope } from './envelope.ts';
import type { Settings } from './request-options.ts';
import { responseError } from './response-errors.ts';

/** What a decoder may do besides returning the payload. */
export interface DecodeContext {
  readonly validation: 'lenient' | 'strict';
  readonly envelope: Envelope;
  /** The answer is not what is documented, and cannot be used. */
  fail(problem: string): ResponseError;
  /** The error for a `data` override that threw. */
  overrideFailed(thrown: unknown): ResponseError;
  /** Logs how a field of a kind of resource differs from what is documented, once for each field. The data is kept. */
  warn(schema: string, field: string, problem: string): void;
}

/** Turns the envelope's `data` into the payload. */
export type Decode<T> = (data: unknown, context: DecodeContext) => T | Promise<T>;

/** What the contexts of one transport share. */
export interface DecodeScope {
  readonly settings: Settings;
  /** Fields already logged, with the kind of resource they are of. */
  readonly loggedFields: Set<string>;
}

/** Maximum lines a client logs about fields: a service that differs a lot would fill the log. */
const MAX_LOGGED_FIELDS = 10;

/** The context for one answer of an operation; `key` is the idempotency key of a create. */
export function decodeContext(
  { settings, loggedFields }: DecodeScope,
  operation: ResolvedOperation,
  { answer, envelope, facts }: Reply,
  key: string | undefined,
): DecodeContext {
  const done = (error: ResponseError): ResponseError =>
    key === undefined
      ? error
      : withDetails(error, { idempotencyKey: key, outcome: 'done' }, 'The create itself succeeded.');
  return {
    validation: settings.validation,
    envelope,
    fail(problem) {
      return done(responseError(`${operation.name} succeeded, but ${problem}.`, answer, facts));
    },
    overrideFailed(thrown) {
      const cause = facts.redactor.cause(thrown);
      const message = `\`operations["${operation.name}"].data\` failed on the data of a success: ${cause.message}`;
      const error = responseError(message, answer, facts, 'callback-failed');
      return done(new ResponseError(error.message, { ...error, cause }));
    },
    warn(schema, field, problem) {
      if (loggedFields.size >= MAX_LOGGED_FIELDS || loggedFields.has(`${schema}.${field}`)) return;
      loggedFields.add(`${schema}.${field}`);
      const last = loggedFields.size === MAX_LOGGED_FIELDS ? ' Further fields that differ are not logged.' : '';
      const message = `${operation.name}: \`${field}\` ${problem}. The value is kept as it is.${last}`;
      settings.logger.warn(message, { operation: operation.name, field });
    },
  };
}
