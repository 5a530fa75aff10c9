import type { Attributes } from '@opentelemetry/api';
import type { RequestEvent } from '../http/index.ts';

/** Prefix of the attributes and metrics that no semantic convention of OpenTelemetry defines. */
export const PREFIX = 'audience_activation';

/** Seconds, the unit of durations in OpenTelemetry. */
export const seconds = (milliseconds: number): number => milliseconds / 1000;

/** Attributes of the server of a request (semantic conventions, "HTTP client"). */
export function serverAttributes({ method, baseUrl }: RequestEvent): Attributes {
  const { hostname, port, protocol } = new URL(baseUrl);
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
}

/** Returns the address of a request, without query. */
export const urlOf = ({ baseUrl, path }: RequestEvent): string => `${baseUrl}${path}`;

/** True for a call of `client.request`, whose path may contain ids: too many different values for a metric. */
export const isFree = ({ operation }: RequestEvent): boolean => operation.includes(' ');

/**
 * Returns the class of an error (semantic conventions, `error.type`): the code of an error of this package. Its message
 * may repeat what the service or the user wrote.
 */
export function errorType(error: unknown): string {
  const code: unknown = Object(error).code;
  return typeof code === 'string' && /^[a-z-]{1,40}$/.test(code) ? code : '_OTHER';
}
