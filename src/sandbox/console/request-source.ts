import { operations } from '../../spec/operations.ts';
import type { KeptRequest } from './recorder.ts';

/** Replaces the credentials of a request that is written as source code. */
export interface Concealer {
  /** Returns the replacement for the value of a field; `undefined` if the value is no credential. */
  field(name: string, value: unknown): string | undefined;
  /** Returns the replacement for the value of a header; `undefined` to omit the header. */
  header(name: string, value: string): string | object | undefined;
  text(text: string): string;
}

/** Headers of connections, proxies and browsers, which the code omits. */
const LEFT_OUT =
  /^(?:host|connection|content-length|user-agent|accept-(?:encoding|language)|transfer-encoding|origin|referer|x-forwarded-for|cookie|sec-.*)$/;

/**
 * Returns the parts of a request that are needed to send it again. `by` replaces credentials, except in binary bodies.
 */
export function readRequest({ url, headers, body }: KeptRequest, by: Concealer) {
  const { origin, pathname, search } = new URL(url);
  const shown = headers.flatMap(([name, value]) => {
    const header = LEFT_OUT.test(name) ? undefined : by.header(name, value);
    return header === undefined ? [] : [[name, header] as const];
  });
  const text = body && decode(body);
  return {
    url: `${origin}${by.text(pathname)}${search === '' ? '' : `?${concealForm(search.slice(1), by)}`}`,
    headers: shown,
    body: body?.length ? (text === undefined ? body : concealBody(text, by)) : undefined,
  };
}

/** Replaces the credentials in a body. Leaves JSON without credentials unchanged, byte for byte. */
function concealBody(body: string, by: Concealer): string {
  const conceal = (name: string, value: unknown): unknown =>
    by.field(name, value) ?? (typeof value === 'string' ? by.text(value) : value);
  try {
    const shown = JSON.stringify(JSON.parse(body, conceal));
    return shown === JSON.stringify(JSON.parse(body)) ? body : shown;
  } catch {
    return /^[^\s=&{"]+=\S*$/.test(body) ? concealForm(body, by) : by.text(body);
  }
}

function concealForm(form: string, by: Concealer): string {
  const pairs = form.split('&').map((pair) => {
    const [name = '', ...value] = pair.split('=');
    const shown = value.length > 0 ? by.field(name, value.join('=')) : undefined;
    return shown === undefined ? by.text(pair) : `${name}=${shown}`;
  });
  return pairs.join('&');
}

export function decode(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

/** The operations. Paths without parameters come first, so that `index` is not read as an id. */
const OPERATIONS = Object.entries(operations).sort(
  ([, one], [, other]) => Number(one.path.includes('{')) - Number(other.path.includes('{')),
);

export function operationOf(method: string, path: string): string | undefined {
  const matches = (pattern: string): boolean => new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
  return OPERATIONS.find(
    ([name, operation]) => name !== 'lookalikes.get' && operation.method === method && matches(operation.path),
  )?.[0];
}
