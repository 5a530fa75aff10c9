import type { AnyAudienceError, ErrorCode } from '../../index.ts';
import { operations } from '../../spec/operations.ts';
import { NAME } from './command-name.ts';
import { CommandError } from './exit-codes.ts';
import { shellWord } from './terminal.ts';

/** Error class of the client for an error code. */
type ErrorOf<Code extends ErrorCode> = Extract<AnyAudienceError, { readonly code: Code }>;

/** Functions that return a text about an error, by error code. */
type Texts = { readonly [Code in ErrorCode]?: (error: ErrorOf<Code>, isRow: boolean) => string | undefined };

/** Advice for a request to the MCP endpoint without a valid token. */
export const SIGN_IN = `Sign in with \`${NAME} login --oauth\`, or set AUDIENCE_MCP_TOKEN.`;

const SIGN_IN_AGAIN = `Sign in again with \`${NAME} login --oauth\`.`;

/**
 * Messages that replace the client's messages about its options and functions. For other codes, the command prints the
 * client's message.
 */
const TEXTS: Texts = {
  'attempt-timeout': ({ message }) => message.replace('`timeout`', '--request-timeout'),
  'idle-timeout': ({ message }) => message.replace(' (`idleTimeout`)', ''),
  'sign-in-timeout': () => `Nobody has signed in within five minutes. ${SIGN_IN_AGAIN}`,
  'response-too-large': ({ message }) => message.replace(/`maxResponseBytes` \((.+)\)/, '$1'),
  // `errorTexts` adds a line for each field.
  'validation-failed': (error) => (error.local ? `${error.operation} was not sent.` : refusalOf(error)),
  'wait-timeout': ({ kind, id, resource, cause }) => {
    const failure = cause === undefined ? '' : `; the last poll failed: ${problemOf(cause).replace(/\.$/, '')}`;
    return resource
      ? `The job of ${kind} ${id} has not ended within --timeout (${statusOf(resource)}${failure}). The job keeps running.`
      : `The status of ${kind} ${id} was not read within --timeout${failure}.`;
  },
  'results-not-ready': ({ id, resource }) =>
    `Activation ${id} has the status ${statusOf(resource)}. The results are available at status 104.`,
  'body-changed': ({ message, outcome, key = '' }) => {
    if (outcome === undefined && key.endsWith(' activation'))
      return `The ${key} was created with a different --activate.`;
    if (outcome === undefined && key.endsWith(' cohort'))
      return `The ${key} was imported from other content, or with another name or \`project_id\`.`;
    return message;
  },
  'webhook-invalid': ({ reason, message }) => SIGNATURE_TEXTS[reason] ?? message,
  'oauth-failed': ({ error, message }) => OAUTH_TEXTS[error] ?? message,
  'reauthorization-required': ({ error }) =>
    error === 'no_grant' ? `Nobody is signed in. ${SIGN_IN}` : `The sign-in has ended (${error}). ${SIGN_IN_AGAIN}`,
};

/** Messages of `webhook-invalid`, by its `reason`. */
const SIGNATURE_TEXTS: Readonly<Partial<Record<ErrorOf<'webhook-invalid'>['reason'], string>>> = {
  'missing-header': '--header is empty: pass the value of the signature header.',
  'too-old':
    'The signature is older than --tolerance (default: 5m): the delivery is a recording or a replay, or the clock of this machine is ahead.',
  'too-new':
    'The timestamp of the signature is more than --tolerance (default: 5m) in the future: the clock of this machine is behind, or the clock of a sandbox is ahead.',
};

/** Messages for the code `oauth-failed`, keyed by the OAuth `error`. */
const OAUTH_TEXTS: Readonly<Partial<Record<string, string>>> = {
  state_mismatch: `The browser has returned from another sign-in. No token was requested. ${SIGN_IN_AGAIN}`,
  issuer_mismatch: `The browser has returned from another authorization server. No token was requested. ${SIGN_IN_AGAIN}`,
  issuer_not_allowed:
    'The service names an authorization server at another address. The command signs in only at the address of the service.',
  invalid_target:
    "The service's OAuth metadata contain another address. Use the service's own address in --base-url or AUDIENCE_BASE_URL.",
  registration_not_supported:
    'The authorization server does not register clients, so the command cannot sign in there.',
  unsupported_client_authentication:
    'The authorization server supports no client authentication of the command, so the command cannot sign in there.',
  revocation_not_supported: 'The authorization server cannot revoke tokens.',
};

const NO_SCOPE =
  'The token is not permitted to do this. Use a token of an account with access: an API token, or an MCP token for the MCP endpoint.';
/** Advice if storage refuses a presigned link. */
const LINK_REFUSED =
  'Storage refused the link, so the token is not the cause. Run the command again to get a new link.';

/**
 * Advice that replaces the client's advice. For other codes, the command prints the client's advice, unless the error
 * is about a create request.
 */
const ADVICE: Texts = {
  'attempt-timeout': ({ idempotencyKey }) =>
    idempotencyKey === undefined ? 'Try again later, or pass a longer --request-timeout.' : undefined,
  'idle-timeout': () => 'Run the command again.',
  'response-too-large': () => 'Request less, for example with --query per_page=10.',
  'redirect-refused': (error) =>
    isTransfer(error) ? error.advice : "Use the service's own address in --base-url or AUDIENCE_BASE_URL.",
  'authentication-failed': (error) =>
    isTransfer(error)
      ? (error.advice ?? LINK_REFUSED)
      : error.reason === 'credentials'
        ? ''
        : 'The token is missing, invalid, expired, revoked or of the wrong kind: a login ends the previous login token, and a password change ends all tokens.',
  'permission-denied': (error) =>
    isTransfer(error)
      ? (error.advice ?? LINK_REFUSED)
      : error.path === operations['mcp.send'].path
        ? `Only tokens of scope "mcp" are accepted here. ${SIGN_IN}`
        : NO_SCOPE,
  'not-found': (error) => (isTransfer(error) ? LINK_REFUSED : error.advice),
  'not-an-envelope': ({ advice, status }) =>
    status >= 400 ? 'Something other than the service refused the request: check --base-url and the proxy.' : advice,
  'not-acceptable': () =>
    'A proxy may have removed the `Accept: application/json` header: configure the proxy to keep it.',
  'validation-failed': () => '',
  'build-budget-exhausted': () => 'Wait, or ask the operator of the service for a larger budget.',
  'job-failed': ({ advice }, isRow) =>
    isRow ? 'You can safely create the resource again with --retry-failed.' : advice,
  'job-needs-info': ({ advice }, isRow) =>
    isRow ? 'The console shows the reason: change the row, and create the resource again with --retry-failed.' : advice,
  'results-not-ready': ({ id }) => `Wait for the activation with \`${NAME} wait activation:${id}\`.`,
  'body-changed': ({ advice, outcome, key = '' }) => {
    if (outcome !== undefined) return advice;
    return key.endsWith(' activation')
      ? `Pass the --activate of the earlier run. To activate the audience once more, use \`${NAME} activations create\`.`
      : 'Use another key. --retry-failed creates a resource again only if the row is "failed".';
  },
};

/**
 * Returns the meaning of a failed create request's outcome, and how to repeat the request with the flag for its key.
 */
function outcomeText({ code, outcome, idempotencyKey }: Fields, isRow: boolean): string {
  const key = `--idempotency-key ${shellWord(String(idempotencyKey))}`;
  const isConflict = code === 'conflict';
  const isLimited = code === 'rate-limited' || code === 'build-budget-exhausted';
  switch (outcome) {
    case 'not-sent':
      return 'Nothing was created.';
    case 'refused':
      if (isConflict)
        return 'This call created nothing: an earlier request used this key with another body. Before you use another key, check the list for the resource that the earlier request created.';
      return `This call created nothing.${isLimited && !isRow ? ` Repeat the request with ${key}.` : ''}`;
    case 'unknown':
      if (isRow)
        return 'The resource may have been created: run the same command again within 23 hours, and the service creates the resource only once.';
      return isConflict
        ? `The resource may have been created: an earlier request with this key may still be in flight. Repeat the request with ${key} and the same body. If the repeated request also gets a 409, the key probably belongs to another body: check the list before you use another key.`
        : `The resource may have been created: repeat the request with ${key} and the same body within 24 hours of the first attempt, and the service creates the resource only once.`;
    case 'done':
      return 'The service created the resource: do not repeat the request.';
    default:
      return '';
  }
}

/** Fields of an error. The error code determines their types. */
type Fields = Readonly<Record<string, unknown>>;

/** Returns the text about an error from a table, or `undefined` if the table has no text for its code. */
function textIn(texts: Texts, error: Error, isRow = false): string | undefined {
  const { code }: Fields = Object(error);
  const [, textOf] = Object.entries(texts).find(([name]) => name === code) ?? [];
  // The error code determines the fields that the function reads.
  return textOf && (textOf as (error: Error, isRow: boolean) => string | undefined)(error, isRow);
}

/** Returns the command's message for an error. */
export const problemOf = (error: unknown): string =>
  error instanceof Error ? (textIn(TEXTS, error) ?? error.message) : String(error);

/**
 * Returns the command's message and advice for an error.
 *
 * @param isRow True if the error is about a row of `run`, which the user repeats with the next run.
 */
export function messageOf(error: unknown, isRow = false): string {
  const problem = problemOf(error);
  if (!(error instanceof Error) || error instanceof CommandError) return problem;
  const fields: Fields = Object(error);
  const isCreate = fields.idempotencyKey !== undefined;
  const isOwn = isCreate || problem !== error.message;
  const advice = [textIn(ADVICE, error, isRow) ?? (isOwn ? '' : fields.advice), isCreate && outcomeText(fields, isRow)];
  return [/[.!?]$/.test(problem) || !advice.some(Boolean) ? problem : `${problem}.`, ...advice.filter(Boolean)].join(
    ' ',
  );
}

/** Returns whether an error is about an upload or a download, to which storage responds. */
const isTransfer = ({ operation }: { readonly operation: string }): boolean =>
  operation === 'uploads.send' || operation === 'activations.download';

const statusOf = ({ status }: { readonly status: { readonly id: number; readonly name: string } }): string =>
  `${status.id} ${status.name}`.trim();

/** Returns the response of the service as text: the status, and the message of the body. */
function refusalOf({ operation, status, body }: ErrorOf<'validation-failed'>): string {
  const reason = reasonIn(body);
  return `${operation} failed: ${status}${reason && ` ${reason}`}`.replace(/\.?$/, '.');
}

/** Returns the message of the envelope or of the JSON-RPC error in a body. */
function reasonIn(body: string): string {
  try {
    const { message, error } = JSON.parse(body);
    return String(message ?? error?.message ?? '');
  } catch {
    // The body is not JSON, or is truncated.
    return '';
  }
}
