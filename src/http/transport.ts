import { v4 as uuid } from 'uuid';
import { AudienceError } from '../errors/audience-error.ts';
import type { FieldErrors } from '../errors/error-details.ts';
import type { OperationName, OperationOverride, ResolvedOperation } from '../spec/operations.ts';
import { atCallSite, captureCallSite } from '../util/call-site.ts';
import { ApiPromise, type PendingCall, type Reply } from './api-promise.ts';
import { runCall } from './call.ts';
import type { ClientState } from './client-state.ts';
import { type Decode, type DecodeContext, type DecodeScope, decodeContext } from './decode-context.ts';
import type { RequestInput } from './request.ts';
import type { CallOptions, Settings } from './request-options.ts';

/** What a namespace's method hands to the transport. */
export interface CallInput<T> extends RequestInput {
  readonly decode: Decode<T>;
  readonly options?: CallOptions;
  /** What is wrong with the input, found before anything is sent. */
  readonly invalid?: () => FieldErrors;
  /** Secrets in what is sent, besides token and headers. */
  readonly secrets?: readonly unknown[];
}

/** The way to the service: every call of every namespace goes through `call`. */
export interface Transport {
  readonly settings: Settings;
  call<T>(operation: OperationName | ResolvedOperation, input: CallInput<T>): ApiPromise<T>;
  /** As `call`, for promises with more to them. */
  start<T>(operation: OperationName | ResolvedOperation, input: CallInput<T>): PendingCall<T>;
}

/** What the user's override makes of a success. */
async function adaptData(
  adapt: NonNullable<OperationOverride['data']>,
  { envelope, overrideFailed }: DecodeContext,
): Promise<unknown> {
  try {
    return await adapt(envelope.data, envelope);
  } catch (error) {
    throw overrideFailed(error);
  }
}

/** A transport with the given settings on a state shared with others. */
export function createTransport(state: ClientState, settings: Settings): Transport {
  const scope: DecodeScope = { settings, loggedFields: state.loggedFields };

  function start<T>(name: OperationName | ResolvedOperation, input: CallInput<T>): PendingCall<T> {
    const operation = typeof name === 'string' ? settings.operation(name) : name;
    const key = operation.retry === 'idempotency-key' ? (input.options?.idempotencyKey ?? uuid()) : undefined;
    const site = captureCallSite();
    const reply = runCall({ state, settings, operation, input, key, site });
    const decode = (got: Reply): T | Promise<T> => {
      const context = decodeContext(scope, operation, got, key);
      const failed = (error: unknown): never => {
        if (AudienceError.isInstance(error)) throw atCallSite(error, site);
        const failure = context.fail(`reading its \`data\` failed: ${got.facts.redactor.cause(error).message}`);
        throw atCallSite(failure, site);
      };
      try {
        const { envelope } = context;
        const decodeData = (data: unknown): T | Promise<T> => input.decode(data, context);
        const adapt = operation.override?.data;
        const decoded = adapt ? adaptData(adapt, context).then(decodeData) : decodeData(envelope.data);
        return decoded instanceof Promise ? decoded.catch(failed) : decoded;
      } catch (error) {
        return failed(error);
      }
    };
    return { reply, decode, idempotencyKey: key };
  }

  return {
    settings,
    start,
    call: (operation, input) => new ApiPromise(start(operation, input)),
  };
}
