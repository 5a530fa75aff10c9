import type { AnyAudienceError, ErrorCode } from '../../index.ts';
import { operations } from '../../spec/operations.ts';
import { NAME } from './command-name.ts';
import { shellWord } from './terminal.ts';

/** Error of the client with a code. */
type ErrorOf<Code extends ErrorCode> = Extract<AnyAudienceError, { readonly code: Code }>;

/** Messages by code; for the other codes, that of the client is printed. */
type Texts = { readonly [Code in ErrorCode]?: (error: ErrorOf<Code>) => string };

/** Advice for a request to the MCP endpoint without a valid token. */
export const SIGN_IN = `Sign in with \`${NAME} login --oauth\`, or set AUDIENCE_MCP_TOKEN.`;

const SIGN_IN_AGAIN = `Sign in again with \`${NAME} login --oauth\`.`;

/** Messages that replace those of the client which speak of its options and functions. */
const TEXTS: Texts = {
  'attempt-timeout': ({ operation }) =>
    `${operation} had no complete response within the time of an attempt (--request-timeout; default: 30s).`,
  'idle-timeout': ({ operation }) => `${operation} transferred no byte for 30 s.`,
  'sign-in-timeout': () => `Nobody has signed in within five minutes. ${SIGN_IN_AGAIN}`,
  'response-too-large': ({ operation }) =>
    `${operation} got a response that is too large. Request less, such as by --query per_page=10.`,
  'redirect-refused': (error) =>
    isTransfer(error)
      ? error.message
      : `${error.operation} was redirected (${error.status}); redirects are never followed. Use the service's own address in --base-url or AUDIENCE_BASE_URL.`,
  'authentication-failed': (error) =>
    error.reason === 'credentials'
      ? error.message
      : `${refusalOf(error)} The token is missing, invalid, expired, revoked or of the wrong kind: a login ends the previous login token, and a password change ends all tokens.`,
  'permission-denied': (error) =>
    error.path === operations['mcp.send'].path
      ? `${refusalOf(error)} Only tokens of scope "mcp" are accepted here. ${SIGN_IN}`
      : error.message,
  // Each field has its own line.
  'validation-failed': (error) => (error.local ? `${error.operation} was not sent.` : refusalOf(error)),
  'wait-timeout': ({ kind, id, resource, cause }) => {
    const failure = cause === undefined ? '' : `; the last poll failed: ${messageOf(cause).replace(/\.$/, '')}`;
    return resource
      ? `The job of ${kind} ${id} has not ended within --timeout (${statusOf(resource)}${failure}). It keeps running.`
      : `The status of ${kind} ${id} was not read within --timeout${failure}.`;
  },
  'results-not-ready': ({ id, resource }) =>
    `Activation ${id} is at ${statusOf(resource)}: its results are available at 104. Wait for it with \`${NAME} wait activation:${id}\`.`,
  'body-changed': ({ message, outcome, key = '' }) => {
    if (outcome !== undefined) return message;
    return key.endsWith(' activation')
      ? `The ${key} was created with a different --activate. Pass the --activate of the earlier run. To activate the audience once more, use \`${NAME} activations create\`.`
      : `${message} (--retry-failed builds it again only if it has failed.)`;
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
    'The signature is older than --tolerance (default: 5m): it is a replay, or the clock of this machine is ahead.',
  'too-new':
    'The signature is from the future by more than --tolerance (default: 5m): the clock of this machine is behind, or that of a sandbox is ahead.',
};

/** Messages of `oauth-failed`, by its `error`. */
const OAUTH_TEXTS: Readonly<Partial<Record<string, string>>> = {
  state_mismatch: `The browser has returned from another sign-in. Nothing was exchanged. ${SIGN_IN_AGAIN}`,
  issuer_mismatch: `The browser has returned from another authorization server. Nothing was exchanged. ${SIGN_IN_AGAIN}`,
  issuer_not_allowed:
    'The service names an authorization server at another address. The command signs in only at the address of the service.',
  invalid_target:
    "The service describes itself by another address. Use the service's own address in --base-url or AUDIENCE_BASE_URL.",
  registration_not_supported:
    'The authorization server does not register clients, so the command cannot sign in there.',
  revocation_not_supported: 'The authorization server cannot revoke tokens.',
};

/** Returns the advice after a failed create, as the client gives it: by its outcome, with the flag of its key. */
function outcomeText(outcome: unknown, key: unknown): string {
  switch (outcome) {
    case 'not-sent':
      return ' Nothing was created.';
    case 'refused':
      return ' Nothing was created by this call.';
    case 'unknown':
      return ` It may have been created: repeat it with --idempotency-key ${shellWord(String(key))} and the same body within 24 hours of its first attempt, and it happens once.`;
    default:
      return '';
  }
}

/** Returns the message of an error, in the words of the command. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, outcome, idempotencyKey }: Readonly<Record<string, unknown>> = Object(error);
  const [, textOf] = Object.entries(TEXTS).find(([name]) => name === code) ?? [];
  // The code determines the fields of an error of the client.
  const text = textOf ? (textOf as (error: Error) => string)(error) : error.message;
  return text === error.message ? text : `${text}${outcomeText(outcome, idempotencyKey)}`;
}

const KEY = /(?:the idempotency key "[\w-]+"|--idempotency-key [\w-]+)/.source;

/** Advice about idempotency keys, and the advice of `run` in its place. */
const ADVICE_OF_RUN = [
  [
    new RegExp(`repeat it with ${KEY} and the same body within 24 hours of its first attempt`, 'g'),
    'run this again within 23 hours',
  ],
  [
    /The journal keeps it as sent: create it again with this journal, within 23 hours of its first attempt\./g,
    'Run this again within 23 hours, and it happens once.',
  ],
  [new RegExp(` (?:To repeat it: the same command|Repeat it) with ${KEY}\\.?`, 'g'), ''],
  [/ under a new idempotency key, as a new build: [^.]*\./g, ', with --retry-failed.'],
] as const;

/** Returns the message about a row of `run`: with its advice instead of that about idempotency keys. */
export const rowText = (text: string): string =>
  ADVICE_OF_RUN.reduce((result, [advice, own]) => result.replace(advice, own), text);

/** Returns whether the operation of an error is an upload or a download, to which storage responds. */
const isTransfer = ({ operation }: { readonly operation: string }): boolean =>
  operation === 'uploads.upload' || operation === 'activations.download';

const statusOf = ({ status }: { readonly status: { readonly id: number; readonly name: string } }): string =>
  `${status.id} ${status.name}`.trim();

/** Returns what the service has responded: the status, and the message of the body. */
function refusalOf({
  operation,
  status,
  body,
}: ErrorOf<'authentication-failed' | 'permission-denied' | 'validation-failed'>): string {
  const reason = reasonIn(body);
  return `${operation} failed: ${status}${reason && ` ${reason}`}`.replace(/\.?$/, '.');
}

/** Returns the message in a body: that of an envelope, or of a JSON-RPC error. */
function reasonIn(body: string): string {
  try {
    const { message, error } = JSON.parse(body);
    return String(message ?? error?.message ?? '');
  } catch {
    // It is not JSON, or was cut.
    return '';
  }
}
