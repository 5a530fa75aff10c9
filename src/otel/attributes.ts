import type { Attributes } from '@opentelemetry/api';
import type { RequestEvent } from '../index.ts';

/** Converts milliseconds to seconds, the unit of durations in OpenTelemetry. */
export const seconds = (milliseconds: number): number => milliseconds / 1000;

let lastServer: { readonly baseUrl: string; readonly attributes: Attributes } | undefined;

/** Attributes of the server of a request (semantic conventions, "HTTP client"). */
export function serverAttributes({ baseUrl }: RequestEvent): Attributes {
  if (lastServer?.baseUrl === baseUrl) return lastServer.attributes;
  const { hostname, port, protocol } = new URL(baseUrl);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const attributes = {
    'server.address': hostname.replace(/^\[|\]$/g, ''),
    'server.port': port === '' ? defaultPort : Number(port),
  };
  lastServer = { baseUrl, attributes };
  return attributes;
}

/** Returns the URL of a request, without query. */
export const urlOf = ({ baseUrl, path }: RequestEvent): string => `${baseUrl}${path}`;

/** True for a call of `client.request`, whose path may contain ids. */
const isFree = ({ operation }: RequestEvent): boolean => operation.includes(' ');

/**
 * Returns the name of an operation. All calls of `client.request` have the same name, because the number of paths is
 * unlimited.
 */
export const nameOf = (event: RequestEvent): string => (isFree(event) ? 'request' : event.operation);

/** Returns the template of the path. The path of `client.request` is a template only if it has parameters. */
export const templateOf = (event: RequestEvent): string | undefined =>
  isFree(event) && !event.pathTemplate?.includes('{') ? undefined : event.pathTemplate;

/**
 * Returns the class of an error (semantic conventions, `error.type`). For an error of this package, returns its code.
 * Never returns the message, which may contain data of the user.
 */
export function errorType(error: unknown): string {
  const code: unknown = Object(error).code;
  return typeof code === 'string' && /^[a-z-]{1,40}$/.test(code) ? code : '_OTHER';
}
