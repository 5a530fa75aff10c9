import { withoutEscapes } from './unescape.ts';

const REDACTED = '[redacted]';

/** Maximum length of a string to search, in UTF-16 code units. Truncating longer strings limits the running time. */
const TEXT_LIMIT = 8192;

/** Maximum length of a response's body in an error, in UTF-16 code units. */
const BODY_LIMIT = 2048;

/**
 * Minimum length to search beyond the limit, in UTF-16 code units, because a secret may begin before the limit and end after
 * it.
 */
const MIN_MARGIN = 256;

/** Maximum number of secrets that {@link Redactor.addRecent} keeps. */
const RECENT_SECRETS = 20;

/** Minimum length of a secret, in UTF-16 code units. Removing shorter strings would make messages unreadable. */
const MIN_SECRET_LENGTH = 4;

/** Maximum length of an escaped UTF-16 code unit of a secret. Escapes can be nested. */
const MAX_ESCAPE_LENGTH = 24;

// Each pattern takes linear time, because text that a failed match has read cannot start another match.
const NAMED_SECRET = /("(?:[a-z_]*token|password|secret|client_secret)"\s*:\s*)"[^"\\]*(?:\\.[^"\\]*)*"?/gi;
/** Excludes the parameters of a `WWW-Authenticate: Bearer` challenge, which are not tokens. */
const BEARER = /(bearer\s+)(?!(?:realm|error|error_description|scope|resource_metadata)=")[\w.~+/|=-]+/gi;
const URL_TEXT = /(https?:(?:\\?\/){2})((?:[^\s"'<>\\?#]|\\[^\s"])*(?:[?#](?:[^\s"<\\]|<(?!\/)|\\[^\s"])*)?)/gi;

/** Matches the names of headers whose values count as secrets. */
const SECRET_HEADER = /key|token|secret|auth|cookie|password|session/i;

/** Returns the values of headers whose names indicate secrets. */
export function secretHeaders(headers: Readonly<Record<string, string>> = {}): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value] : []));
}

/** Returns the index at which the query of a URL, or a fragment with values, begins, or -1. */
const queryIndex = (rest: string): number => rest.search(/\?|#(?=[^?]*=)/);

/** Returns the index of the `@` after the user in a URL without its scheme, or -1. */
const userIndex = (rest: string): number => (rest.split(/[/\\?#]/, 1)[0] ?? '').lastIndexOf('@');

/** Replaces the user and the query in a URL without its scheme. */
function withoutUserAndQuery(rest: string): string {
  const query = queryIndex(rest);
  const cleaned = query < 0 ? rest : `${rest.slice(0, query + 1)}${REDACTED}`;
  const user = userIndex(rest);
  return user < 0 ? cleaned : `${REDACTED}${cleaned.slice(user)}`;
}

/** Replaces the users and queries of the URLs in a string. The query of a presigned URL contains its signature. */
function redactUrls(text: string): string {
  return text.replace(URL_TEXT, (_, scheme: string, rest: string) => `${scheme}${withoutUserAndQuery(rest)}`);
}

/** Maximum depth of the copy of a resource in an error. */
const MAX_FIELD_DEPTH = 10;

/** Maximum number of values in the copy of a resource in an error. */
const MAX_FIELDS = 2_000;

type Range = readonly [from: number, to: number];

/** Replaces the secrets in a string, including escaped secrets. */
function withoutSecrets(original: string, { secrets, unescaped }: Search): string {
  const ranges: Range[] = secrets.flatMap((secret) => rangesOf(secret, original));
  if (/[\\%&+]/.test(original)) {
    const { text, starts } = withoutEscapes(original);
    const isEscaped = (index: number): boolean => original[starts[index] ?? 0] !== text[index];
    const matches = [...unescaped.flatMap((secret) => rangesOf(secret, text)), ...namedRanges(text, isEscaped)];
    for (const [from, to] of matches) ranges.push([starts[from] ?? 0, starts[to] ?? original.length]);
  }
  let clean = '';
  let end = 0;
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    if (from >= end) clean += original.slice(end, from) + REDACTED;
    end = Math.max(end, to);
  }
  return clean + original.slice(end);
}

function rangesOf(secret: string, text: string): Range[] {
  const ranges: Range[] = [];
  for (let from = text.indexOf(secret); from >= 0; from = text.indexOf(secret, from + secret.length)) {
    ranges.push([from, from + secret.length]);
  }
  return ranges;
}

/** Returns the ranges of an unescaped string that are secret because of a field name or a URL. */
function namedRanges(text: string, isEscaped: (index: number) => boolean): Range[] {
  // Search only fields with escaped quotes. With unescaped quotes, the escapes in the value determine its end.
  const fields = [...text.matchAll(NAMED_SECRET)].filter(({ index }) => isEscaped(index));
  const values = [...fields, ...text.matchAll(BEARER)].map(
    ({ 0: all, 1: name = '', index }): Range => [index + name.length, index + all.length],
  );
  const urls = [...text.matchAll(URL_TEXT)].flatMap(({ 1: scheme = '', 2: rest = '', index }): Range[] => {
    const from = index + scheme.length;
    const [query, user] = [queryIndex(rest), userIndex(rest)];
    return [
      ...(query < 0 ? [] : [[from + query + 1, from + rest.length] as const]),
      ...(user < 0 ? [] : [[from, from + user] as const]),
    ];
  });
  return [...values, ...urls].filter(([from, to]) => to > from);
}

/** The secrets of an owner, such as a client. */
interface Secrets {
  readonly kept: Set<string>;
  readonly recent: Set<string>;
  /** Number of changes so far, to detect an outdated cache. */
  version: number;
}

/** The strings to search for, cached for one version of the secrets. */
interface Search {
  readonly version: number;
  /** The secrets, longest first, because a secret may contain another secret. */
  readonly secrets: readonly string[];
  /** The secrets without escapes. */
  readonly unescaped: readonly string[];
  /** Length to search beyond the limit, in UTF-16 code units. */
  readonly margin: number;
}

/**
 * Removes secrets from error messages, bodies, causes and log lines. The redactor of a client contains the secrets of
 * the client's options and its latest tokens. The redactor of a call ({@link Redactor.with}) also contains the secrets
 * that the call sends.
 */
export class Redactor {
  readonly #owner: Secrets;
  readonly #own: readonly string[];
  #search: Search | undefined;

  /**
   * `owner` contains the secrets that all redactors of an owner share. `own` contains the secrets of this redactor
   * only.
   */
  constructor(owner: Secrets = { kept: new Set(), recent: new Set(), version: 0 }, own: readonly string[] = []) {
    this.#owner = owner;
    this.#own = own;
  }

  /** Adds a secret of the owner, such as a password. */
  addSecret(secret: unknown): void {
    if (!isSecret(secret)) return;
    this.#owner.kept.add(secret);
    this.#owner.version++;
  }

  /** Adds a secret of the owner that changes over time, such as a token. Keeps only the latest of these secrets. */
  addRecent(secret: unknown): void {
    const { recent } = this.#owner;
    if (!isSecret(secret)) return;
    recent.delete(secret);
    recent.add(secret);
    this.#owner.version++;
    for (const oldest of recent) {
      if (recent.size <= RECENT_SECRETS) break;
      recent.delete(oldest);
    }
  }

  /** Returns a redactor that also removes the secrets of a call. */
  with(secrets: readonly unknown[]): Redactor {
    return new Redactor(this.#owner, [...this.#own, ...secrets.filter(isSecret)]);
  }

  /** Returns a value as a string without secrets, truncated to `limit` UTF-16 code units. */
  text(value: unknown, limit = TEXT_LIMIT): string {
    const search = this.#secrets();
    const { margin } = search;
    const full = typeof value === 'string' ? value : describe(value);
    const isCut = full.length > limit + margin;
    let clean = withoutSecrets(isCut ? full.slice(0, limit + margin) : full, search);
    clean = redactUrls(clean.replace(NAMED_SECRET, `$1"${REDACTED}"`).replace(BEARER, `$1${REDACTED}`));
    // Cut off the margin, too, because a truncated string may end with the beginning of a secret.
    const end = Math.min(limit, isCut ? clean.length - margin : clean.length);
    return end < clean.length ? `${clean.slice(0, Math.max(0, end))}… (cut)` : clean;
  }

  /** Returns a body for an error: without secrets, truncated to 2 KiB. */
  body(value: string): string {
    return this.text(value, BODY_LIMIT);
  }

  headers(source: Headers): Headers {
    const clean = new Headers();
    for (const [name, value] of source) if (name !== 'set-cookie') clean.append(name, headerValue(this.text(value)));
    return clean;
  }

  /** Returns a copy of a resource for an error: without secrets and queries of URLs, and with a limited size. */
  resource<T>(resource: T): T;
  resource(resource: unknown): unknown {
    let left = MAX_FIELDS;
    const copyOf = (value: unknown, depth: number): unknown => {
      if (typeof value === 'string') return this.text(value, BODY_LIMIT);
      if (typeof value !== 'object' || value === null) return value;
      if (depth > MAX_FIELD_DEPTH || left <= 0) return undefined;
      const keys = Object.keys(value).slice(0, left);
      left -= keys.length;
      const entries = keys.map((key): [string, unknown] => [key, copyOf(Reflect.get(value, key), depth + 1)]);
      return Array.isArray(value) ? entries.map(([, element]) => element) : Object.fromEntries(entries);
    };
    return copyOf(resource, 0);
  }

  /** Returns a copy of an error from outside this package: name, message, stack, `code` and causes, without secrets. */
  cause(error: unknown): Error {
    return cleanError(error, (value) => this.text(value), 0);
  }

  #secrets(): Search {
    const { kept, recent, version } = this.#owner;
    if (this.#search?.version === version) return this.#search;
    const secrets = [...new Set([...kept, ...recent, ...this.#own])].sort((a, b) => b.length - a.length);
    const unescaped = secrets.map((secret) => withoutEscapes(secret).text).filter(isSecret);
    const margin = Math.max(MIN_MARGIN, (secrets[0]?.length ?? 0) * MAX_ESCAPE_LENGTH);
    this.#search = { version, secrets, unescaped, margin };
    return this.#search;
  }
}

/** Returns whether a value can be a secret. Other checks refuse values that are not strings. */
const isSecret = (secret: unknown): secret is string =>
  typeof secret === 'string' && secret.length >= MIN_SECRET_LENGTH;

/** Replaces the ellipsis of a truncated string, which a header value cannot contain. */
const headerValue = (text: string): string => text.replace('…', '...');

/** Maximum depth of the causes of an error to read, because they may be circular. */
export const MAX_CAUSE_DEPTH = 5;

function cleanError(error: unknown, text: (value: string) => string, depth: number): Error {
  if (!(error instanceof Error)) return new Error(text(describe(error)));
  const deeper = error.cause instanceof Error && depth < MAX_CAUSE_DEPTH;
  const options = deeper ? { cause: cleanError(error.cause, text, depth + 1) } : undefined;
  const clean =
    error instanceof AggregateError && depth < MAX_CAUSE_DEPTH
      ? new AggregateError(
          error.errors.map((inner) => cleanError(inner, text, depth + 1)),
          text(error.message),
          options,
        )
      : new Error(text(error.message), options);
  const hidden = { enumerable: false, configurable: true, writable: true };
  Object.defineProperty(clean, 'name', { ...hidden, value: text(error.name) });
  if (error.stack) Object.defineProperty(clean, 'stack', { ...hidden, value: text(error.stack) });
  if ('code' in error && typeof error.code === 'string') Object.assign(clean, { code: text(error.code) });
  return clean;
}

function describe(value: unknown): string {
  return Object(value) === value ? Object.prototype.toString.call(value) : String(value);
}
