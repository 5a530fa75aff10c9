import { AbortScope, abortable } from '../util/abort.ts';
import { Redactor } from '../util/redact.ts';
import { backoffDelay, withRetries } from '../util/retry.ts';
import { type RedisClient, type RunScript, scriptRunner } from './commands.ts';

/** Runs a script like {@link RunScript}, and removes `secrets` from its errors. */
type RetryingRunScript = (...script: [...Parameters<RunScript>, secrets?: readonly unknown[]]) => ReturnType<RunScript>;

/** Advice of errors about Redis. */
export const CHECK_REDIS = 'Check the Redis server, and the connection of the client that you passed.';

const BACKOFF = { min: 10, max: 400 } as const;

/** An error reply of the server, such as `WRONGTYPE`. */
const ERROR_REPLY = /^[A-Z]{2,}\b/;

/** Transient error replies: the server is starting or busy, or its role in a cluster is changing. */
const TRANSIENT_REPLY = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|UNBLOCKED)\b/;

/**
 * Returns a function that runs idempotent scripts. For up to `timeoutMs` milliseconds, it retries a script after lost
 * connections and transient error replies. A script that timed out may still run later, because the client keeps it in
 * a queue.
 */
export function retryingRunner(
  client: RedisClient,
  timeoutMs: number,
  toError: (reason: string, cause: Error) => Error,
): RetryingRunScript {
  const run = scriptRunner(client);
  const redactor = new Redactor();
  const timeoutError = (): Error => new Error(`Redis did not respond within ${timeoutMs / 1_000} seconds`);
  return async (script, key, args, secrets = []) => {
    const timeout = new AbortScope({ ms: timeoutMs, reason: timeoutError });
    let lastError: unknown;
    try {
      return await withRetries(() => abortable(run(script, key, args), timeout.signal), {
        signal: timeout.signal,
        delayAfter(error, retries) {
          lastError = error;
          return isTransient(client, error) ? backoffDelay(retries + 1, BACKOFF, Math.random) : undefined;
        },
      });
    } catch (error) {
      const failure = lastError ?? error;
      const cause = redactor.with(secrets).cause(failure);
      // Redis clients throw some errors without a message, for example if a command waited too long in the queue.
      const reason = cause.message || ('code' in cause && cause.code) || Object(failure).constructor.name;
      throw toError(String(reason), cause);
    } finally {
      timeout.dispose();
    }
  };
}

function isTransient(client: RedisClient, error: Error): boolean {
  // Do not retry if the user has closed the client. The error does not show this, because a cluster also closes the
  // clients of removed nodes.
  if ('isOpen' in client ? client.isOpen === false : 'status' in client && client.status === 'end') return false;
  return !ERROR_REPLY.test(error.message) || TRANSIENT_REPLY.test(error.message);
}
