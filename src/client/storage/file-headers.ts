import { isServerRuntime } from '../../util/runtime.ts';

/**
 * Returns whether a missing `Content-Encoding` shows that the file is not encoded. On responses of other origins,
 * browsers hide this header unless storage exposes it (CORS).
 */
export const showsEncoding = ({ type, headers }: Response): boolean =>
  isServerRuntime ||
  type === 'basic' ||
  /\*|content-encoding/i.test(headers.get('access-control-expose-headers') ?? '');

/** Returns the strong `ETag` of a file or, without a strong `ETag`, its `Last-Modified`. */
export function versionOf(headers: Headers): string | null {
  const tag = headers.get('etag');
  return (tag?.startsWith('W/') ? null : tag) ?? headers.get('last-modified');
}

/**
 * Returns the minimum size of a complete file in bytes. `length` is the number of bytes sent, which may be encoded.
 * Encoding data that cannot be compressed adds a header and less than a fifth (see zlib's `deflateBound`).
 */
export const fewestBytes = (length: number): number => (length - 1_024) * 0.8;
