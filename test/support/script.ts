/** One answer of a scripted server; plain data, so that browsers can order it, too. */
export interface Step {
  /** @default 200 */
  readonly status?: number;
  /** `data` of the envelope. */
  readonly data?: unknown;
  readonly message?: string;
  readonly errors?: unknown;
  /** The whole body, instead of an envelope. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds before the answer. */
  readonly delay?: number;
  /** 401 unless this bearer token came. */
  readonly bearer?: string;
  /** `cut`: the connection ends after the request was read; `cut-body`, `stall-body`: in mid-body; `stall`: silence. */
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
