/** One response of a scripted server. Plain data, so that tests in browsers can send it to the server. */
export interface Step {
  /** @default 200 */
  readonly status?: number;
  /** `data` of the envelope. */
  readonly data?: unknown;
  readonly message?: string;
  readonly errors?: unknown;
  /** The entire body, in place of an envelope. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds before the response. */
  readonly delay?: number;
  /** Responds with 401 unless the request has this bearer token. */
  readonly bearer?: string;
  /**
   * Sends the first `bytes` bytes of the pattern with `content-length`, or the part from the offset that the request's
   * `Range` names.
   */
  readonly bytes?: number;
  /** When half of the request's body has arrived, closes the connection, or stops reading for a while. */
  readonly upload?: 'cut' | 'stall';
  /**
   * `cut` closes the connection after the request was read; `stall` sends nothing. `cut-body` and `stall-body` do so
   * after the first bytes of the body (half of `bytes`).
   */
  readonly fault?: 'cut' | 'cut-body' | 'stall' | 'stall-body';
}

/** Steps for all requests, or by `METHOD /path`, where `*` stands for all other requests. */
export type Script = readonly Step[] | Readonly<Record<string, readonly Step[]>>;

/** A request that the server received. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body, one character per byte; for a body above 1 MiB, its length. */
  readonly body: string;
  /** Milliseconds on the server's monotonic clock. */
  readonly at: number;
}

/** Returns the byte at an offset of the pattern. Its kibibytes differ, so that a misplaced part is detected. */
const patternByte = (at: number): number => (at * 31 + (at >> 10)) & 0xff;

/** Returns the first `size` bytes of the pattern. */
export function pattern(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = patternByte(at);
  return bytes;
}
