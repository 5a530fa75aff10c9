import { isServerRuntime } from '../../util/runtime.ts';

/**
 * Returns whether all headers of a response can be read. Pages see `Content-Length` of another origin, but
 * `Content-Encoding` only if it is exposed, which they cannot see unless the list of exposed headers is itself exposed.
 */
export const showsEncoding = ({ type, headers }: Response): boolean =>
  isServerRuntime ||
  type === 'basic' ||
  /\*|content-encoding/i.test(headers.get('access-control-expose-headers') ?? '');

/** Returns the strong `ETag` of a file, or else the time of its last change. */
export function versionOf(headers: Headers): string | null {
  const tag = headers.get('etag');
  return (tag?.startsWith('W/') ? null : tag) ?? headers.get('last-modified');
}

/**
 * Returns the minimum size of a complete file in bytes, if `length` counts the sent bytes, which may be encoded.
 * Encoders enlarge data that they cannot compress by a header and less than a fifth, as zlib does at worst
 * (`deflateBound`).
 */
export const fewestBytes = (length: number): number => (length - 1_024) * 0.8;
