const NEWLINE = 10;

/** Size and lines of a file. */
export interface FileMeasure {
  readonly size: number;
  readonly lines: number;
}

/** Measures a file while it passes by; rejects with what cuts it off. */
export async function measure(body: ReadableStream<Uint8Array> | null): Promise<FileMeasure> {
  let size = 0;
  let lines = 0;
  let last = NEWLINE;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    last = chunk.at(-1) ?? last;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  }
  return { size, lines: last === NEWLINE ? lines : lines + 1 };
}
