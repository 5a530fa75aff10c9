/** What stands in a text where a secret stood. */
const REDACTED = '[redacted]';

/** How much of an answer's text an error keeps, in UTF-16 units. */
const BODY_LIMIT = 2048;

/** How many secrets are remembered; the oldest is forgotten first. */
const REMEMBERED = 200;

/** A shorter text is no secret, and removing it would make every message unreadable. */
const LEAST_SECRET = 4;

const NAMED_SECRET = /("(?:[a-z_]*token|password|secret|client_secret)"\s*:\s*)"(?:[^"\\]|\\.)*"?/gi;
/** Parameters of a challenge are no token. */
const BEARER = /(bearer\s+)(?!(?:realm|error|error_description|scope|resource_metadata)=")[\w.~+/|=-]+/gi;
const URL_QUERY = /(https?:(?:\\?\/){2}[^\s"'<>?#]+\?)[^\s"'<>]*/gi;
const URL_USERINFO = /(https?:(?:\\?\/){2})[^\s"'<>/@]+@/gi;

/** Removes secrets from whatever leaves the transport: error texts, bodies, causes, logs. */
export interface Redactor {
  /** Remembers a token or password, to be removed wherever it shows up again. */
  remember(secret: string): void;
  text(value: string): string;
  /** A body as an error may show it: secrets removed, then cut at 2 KiB. */
  body(value: string): string;
  headers(headers: Headers): Headers;
  /** A copy of a foreign error, free of secrets and of objects that hold them. */
  cause(error: unknown): Error;
}

/** Headers of the user's own whose values are secrets, by their names. */
const SECRET_HEADER = /key|token|secret|auth|cookie|password|session/i;

/** Remembers the secrets among headers that the user gives. */
export function rememberHeaders(headers: Readonly<Record<string, string>>, { remember }: Redactor): void {
  for (const [name, value] of Object.entries(headers)) if (SECRET_HEADER.test(name)) remember(value);
}

/** How deep JSON may stand within JSON for a secret to be found still. */
const NESTED_JSON = 3;

/** A secret as it may show up in URLs and in JSON, also in JSON quoted by JSON. */
function formsOf(secret: string): Set<string> {
  const forms = new Set([secret, encodeURIComponent(secret)]);
  let quoted = secret;
  for (let depth = 0; depth < NESTED_JSON; depth++) {
    quoted = JSON.stringify(quoted).slice(1, -1);
    forms.add(quoted);
  }
  return forms;
}

/** A redactor that knows no secret yet. */
export function createRedactor(): Redactor {
  const secrets = new Set<string>();

  function remember(secret: string): void {
    // What is no text is refused elsewhere, with a better message.
    if (typeof secret !== 'string' || secret.length < LEAST_SECRET || secrets.has(secret)) return;
    for (const form of formsOf(secret)) secrets.add(form);
    for (const oldest of secrets) {
      if (secrets.size <= REMEMBERED) break;
      secrets.delete(oldest);
    }
  }

  function text(value: string): string {
    let clean = value;
    for (const secret of secrets) clean = clean.replaceAll(secret, REDACTED);
    return clean
      .replace(NAMED_SECRET, `$1"${REDACTED}"`)
      .replace(BEARER, `$1${REDACTED}`)
      .replace(URL_USERINFO, `$1${REDACTED}@`)
      .replace(URL_QUERY, `$1${REDACTED}`);
  }

  function headers(source: Headers): Headers {
    const clean = new Headers();
    for (const [name, value] of source) if (name !== 'set-cookie') clean.append(name, text(value));
    return clean;
  }

  function body(value: string): string {
    // Cut last: a secret that the cut would split could not be recognised.
    const clean = text(value);
    return clean.length > BODY_LIMIT ? `${clean.slice(0, BODY_LIMIT)}… (cut)` : clean;
  }

  return { remember, text, body, headers, cause: (error) => cleanError(error, text, 0) };
}

/** How many causes of causes are kept, or looked into: they may lead in a circle. */
export const DEEPEST_CAUSE = 5;

function cleanError(error: unknown, text: (value: string) => string, depth: number): Error {
  if (!(error instanceof Error)) return new Error(text(describe(error)));
  const deeper = error.cause instanceof Error && depth < DEEPEST_CAUSE;
  const options = deeper ? { cause: cleanError(error.cause, text, depth + 1) } : undefined;
  const clean =
    error instanceof AggregateError && depth < DEEPEST_CAUSE
      ? new AggregateError(
          error.errors.map((one) => cleanError(one, text, depth + 1)),
          text(error.message),
          options,
        )
      : new Error(text(error.message), options);
  const hidden = { enumerable: false, configurable: true, writable: true };
  Object.defineProperty(clean, 'name', { ...hidden, value: error.name });
  if (error.stack) Object.defineProperty(clean, 'stack', { ...hidden, value: text(error.stack) });
  if ('code' in error && typeof error.code === 'string') Object.assign(clean, { code: error.code });
  return clean;
}

function describe(value: unknown): string {
  return typeof value === 'object' && value !== null ? Object.prototype.toString.call(value) : String(value);
}
