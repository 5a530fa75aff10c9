import { AudienceError } from '../../errors/audience-error.ts';
import { AbortScope } from '../../util/abort.ts';
import { isUsableToken } from '../../util/input-checks.ts';
import type { Redactor } from '../../util/redact.ts';
import type { ClientState } from './client-state.ts';

export interface TokenRequest {
  readonly kind: 'general' | 'mcp';
  readonly signal: AbortSignal;
  /** Removes secrets from the errors of a token source, except from an `AudienceError`. */
  readonly redactor: Redactor;
  /** Token that the service has just refused, if any. */
  readonly rejected?: string | undefined;
}

/**
 * Returns the token of a client.
 *
 * @throws {AudienceError} `token-unavailable` if the source fails or returns no usable token. An `AudienceError` of the
 * source is thrown unchanged.
 */
export async function requestToken(
  { tokens, tokenContext: context }: Pick<ClientState, 'tokens' | 'tokenContext'>,
  { kind, signal, redactor, rejected }: TokenRequest,
): Promise<string> {
  const source = tokens[kind];
  let token: unknown = source.value;
  if (token === undefined) {
    // A token source may ignore its signal, or add listeners to it that outlive the call.
    const scope = new AbortScope({ parents: [signal] });
    try {
      const request = { ...(rejected !== undefined && { rejected }), signal: scope.signal, context };
      token = await scope.race(Promise.resolve(source.get(request)));
    } catch (error) {
      signal.throwIfAborted();
      if (AudienceError.isInstance(error)) throw error;
      const cause = redactor.cause(error);
      throw new AudienceError(`The token source failed: ${cause.message}`, { code: 'token-unavailable', cause });
    } finally {
      scope.dispose();
    }
    signal.throwIfAborted();
  }
  if (isUsableToken(token)) return token;
  const message = 'The token source returned no usable token.';
  const advice = 'A token must be visible ASCII without white space.';
  throw new AudienceError(message, { code: 'token-unavailable', advice });
}
