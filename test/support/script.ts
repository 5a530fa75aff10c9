/** One answer of a scripted server; plain data, so that browsers can order it, too. */
export interface Step {
  /** @default 200 */
  readonly status?: number;
  /** `data` of the envelope. */
  readonly data?: unknown;
  readonly message?: string;
  readonly errors?: unknown;
  /** The entire body, instead of an envelope. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds before the response. */
  readonly delay?: number;
  /** 401 unless this bearer token came. */
  readonly bearer?: string;
  /** A body of so many bytes, of a pattern, with its length and, asked for a range, from there. */
  readonly bytes?: number;
  /** When half of the request's body has arrived, the connection ends, or nobody reads on for a while. */
  readonly upload?: 'cut' | 'stall';
  /** `cut`: the connection ends after the request was read; `cut-body`, `stall-body`: in mid-body (half of `bytes`); `stall`: silence. */
  readonly fault?: 'cut' | 'cut-body' | 'stall' | 'stall-body';
}

/** Answers for every request, or by `METHOD /path`; `*` is the rest. */
export type Script = readonly Step[] | Readonly<Record<string, readonly Step[]>>;

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes, one character each. */
  readonly body: string;
  /** Milliseconds on the server's monotonic clock. */
  readonly at: number;
}

/** The byte at a place of a body of `bytes`: no two kibibytes are alike. */
const patternByte = (at: number): number => (at * 31 + (at >> 10)) & 0xff;

/** The first so many bytes of the pattern. */
export const pattern = (size: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: size }, (_, at) => patternByte(at));
