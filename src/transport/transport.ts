import { v4 as uuid } from 'uuid';
import type { FieldErrors } from '../errors/api.ts';
import { withDetails } from '../errors/base.ts';
import type { ResponseError } from '../errors/call.ts';
import type { OperationName, ResolvedOperation } from '../operations.ts';
import { ApiPromise, type PendingCall, type Reply } from './api-promise.ts';
import type { Core } from './core.ts';
import type { Envelope } from './envelope.ts';
import { responseError } from './failures.ts';
import type { RequestInput } from './request.ts';
import { runCall } from './run-call.ts';
import type { CallOptions, Settings } from './settings.ts';

/** What a decoder may do besides returning the payload. */
export interface DecodeContext {
  readonly operation: string;
  readonly validation: 'lenient' | 'strict';
  readonly envelope: Envelope;
  /** The answer is not what is documented, and cannot be used. */
  fail(problem: string): ResponseError;
  /** One documented field is odd; the data is used all the same. Logged once a field. */
  warn(field: string, problem: string): void;
}

/** Turns the envelope's `data` into the payload. */
export type Decode<T> = (data: unknown, context: DecodeContext) => T | Promise<T>;

/** What a namespace's method hands to the transport. */
interface CallInput<T> extends RequestInput {
  readonly decode: Decode<T>;
  readonly options?: CallOptions;
  /** What is wrong with the input, found before anything is sent. */
  readonly invalid?: FieldErrors | undefined;
}

/** The way to the service: every call of every namespace goes through `call`. */
export interface Transport {
  readonly settings: Settings;
  /** Has a secret removed from every error and log line. */
  remember(secret: string): void;
  call<T>(operation: OperationName | ResolvedOperation, input: CallInput<T>): ApiPromise<T>;
  /** As `call`, for promises with more to them. */
  start<T>(operation: OperationName | ResolvedOperation, input: CallInput<T>): PendingCall<T>;
}

/** A transport with the given settings on a core shared with others. */
export function createTransport(core: Core, settings: Settings): Transport {
  const warned = new Set<string>();

  function context(operation: ResolvedOperation, path: string, reply: Reply, key: string | undefined): DecodeContext {
    const { answer, attempts, envelope } = reply;
    const facts = { operation, path, attempts, requestIdHeader: settings.requestIdHeader };
    return {
      operation: operation.name,
      validation: settings.validation,
      envelope,
      fail(problem) {
        const error = responseError(`${operation.name} succeeded, but ${problem}.`, answer, facts, core.redactor);
        if (key === undefined) return error;
        return withDetails(error, { idempotencyKey: key, outcome: 'done' }, 'The create itself succeeded.');
      },
      warn(field, problem) {
        const name = `${operation.name} ${field}`;
        if (warned.has(name)) return;
        warned.add(name);
        settings.logger.warn(`${operation.name}: \`${field}\` is not as documented: ${problem}`, {
          operation: operation.name,
          field,
        });
      },
    };
  }

  function start<T>(name: OperationName | ResolvedOperation, input: CallInput<T>): PendingCall<T> {
    const operation = typeof name === 'string' ? settings.operation(name) : name;
    const key = operation.repeat === 'key' ? (input.options?.idempotencyKey ?? uuid()) : undefined;
    const reply = runCall({ core, settings, operation, input, key });
    const decode = (got: Reply): T | Promise<T> => {
      const data = operation.data ? operation.data(got.envelope.data, got.envelope) : got.envelope.data;
      return input.decode(data, context(operation, operation.path, got, key));
    };
    return { reply, decode, idempotencyKey: key };
  }

  return {
    settings,
    remember: core.redactor.remember,
    start,
    call: (operation, input) => new ApiPromise(start(operation, input)),
  };
}
