import { v4 as uuid } from 'uuid';
import { AudienceError } from '../errors/audience-error.ts';
import type { OperationName, OperationOverride, ResolvedOperation } from '../spec/operations.ts';
import { atCallSite, captureCallSite } from '../util/call-site.ts';
import { ApiPromise, type PendingCall, type Reply } from './api-promise.ts';
import { attempt } from './attempt.ts';
import { Call, type CallInput, execute } from './call.ts';
import type { ClientState } from './client-state.ts';
import { type Decode, type DecodeContext, decodeContext } from './decode-context.ts';
import { prepareRequest } from './request.ts';
import type { Settings } from './request-options.ts';

/** The input of a namespace's method: what to send, and how to decode `data`. */
export interface TransportInput<T> extends CallInput {
  readonly decode: Decode<T>;
}

/** Makes the calls of every namespace. */
export class Transport {
  readonly state: ClientState;
  readonly settings: Settings;

  /** A transport with its own settings; `state` may be shared with others. */
  constructor(state: ClientState, settings: Settings) {
    this.state = state;
    this.settings = settings;
  }

  /** Returns a transport on the same state with other settings. */
  withSettings(settings: Settings): Transport {
    return new Transport(this.state, settings);
  }

  call<T>(operation: OperationName | ResolvedOperation, input: TransportInput<T>): ApiPromise<T> {
    return new ApiPromise(this.start(operation, input));
  }

  /** As `call`, for promises with further methods. */
  start<T>(name: OperationName | ResolvedOperation, input: TransportInput<T>): PendingCall<T> {
    const { state, settings } = this;
    const operation = typeof name === 'string' ? settings.operation(name) : name;
    const key = operation.retry === 'idempotency-key' ? (input.options?.idempotencyKey ?? uuid()) : undefined;
    const call = new Call({ state, settings, operation, input, key, site: captureCallSite() });
    const reply = execute(call, { prepare: prepareRequest, attempt });
    return { reply, decode: (received) => decodeReply(received, input.decode), idempotencyKey: key };
  }
}

function decodeReply<T>(reply: Reply, decode: Decode<T>): T | Promise<T> {
  const { operation, site, redactor } = reply.call;
  const context = decodeContext(reply);
  const fail = (error: unknown): never => {
    if (AudienceError.isInstance(error)) throw atCallSite(error, site);
    throw atCallSite(context.fail(`reading its \`data\` failed: ${redactor.cause(error).message}`), site);
  };
  try {
    const adapt = operation.override?.data;
    const decoded = adapt
      ? adaptData(adapt, context).then((data) => decode(data, context))
      : decode(context.envelope.data, context);
    return decoded instanceof Promise ? decoded.catch(fail) : decoded;
  } catch (error) {
    return fail(error);
  }
}

/** Applies the user's `data` override. */
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
