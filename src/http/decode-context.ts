import { withDetails } from '../errors/audience-error.ts';
import { ResponseError } from '../errors/call-errors.ts';
import type { Reply } from './api-promise.ts';
import type { Envelope } from './envelope.ts';
import { responseError } from './response-errors.ts';

/** Reports of a decoder, besides the payload that it returns. */
export interface DecodeContext {
  readonly validation: 'lenient' | 'strict';
  readonly envelope: Envelope;
  /** Returns the error for a payload that is not as documented and cannot be used. */
  fail(problem: string): ResponseError;
  /** Returns the error for a `data` override that threw. */
  overrideFailed(thrown: unknown): ResponseError;
  /** Logs how a field of a kind of resource differs from what is documented, once for each field. The data is kept. */
  warn(schema: string, field: string, problem: string): void;
}

/** Turns the envelope's `data` into the payload. */
export type Decode<T> = (data: unknown, context: DecodeContext) => T | Promise<T>;

/** Maximum lines a client logs about fields: a service that differs a lot would fill the log. */
const MAX_LOGGED_FIELDS = 10;

/** Returns the context for decoding one reply. */
export function decodeContext({ response, envelope, call }: Reply): DecodeContext {
  const { operation, key, settings, redactor } = call;
  const { loggedFields } = call.state;
  const withOutcome = (error: ResponseError): ResponseError =>
    key === undefined
      ? error
      : withDetails(error, { idempotencyKey: key, outcome: 'done' }, 'The create itself succeeded.');
  return {
    validation: settings.validation,
    envelope,
    fail(problem) {
      return withOutcome(responseError(`${operation.name} succeeded, but ${problem}.`, response, call));
    },
    overrideFailed(thrown) {
      const cause = redactor.cause(thrown);
      const message = `\`operations["${operation.name}"].data\` failed on the data of a success: ${cause.message}`;
      const error = responseError(message, response, call, 'callback-failed');
      return withOutcome(new ResponseError(error.message, { ...error, cause }));
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
