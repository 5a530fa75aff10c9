import type { Service } from '../service.ts';
import type { ResultFile } from '../state.ts';

const header = ({ identifier }: ResultFile): string => `${identifier.toLowerCase()}\n`;
/** Returns a row with an invented identifier. All rows have the same length, so that any byte range can be computed. */
const row = ({ identifier }: ResultFile, index: number): string => `${identifier}-${String(index).padStart(12, '0')}\n`;

const ROWS_PER_CHUNK = 2_000;

export const resultLength = (file: ResultFile): number => header(file).length + file.rows * row(file, 0).length;

/** Returns a result file from byte `start`. The stream generates the file while it is read. */
export function readResult(file: ResultFile, start: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const head = header(file);
  const width = row(file, 0).length;
  let index = Math.max(0, Math.floor((start - head.length) / width));
  let skip = start < head.length ? start : start - head.length - index * width;
  let chunk = start < head.length ? head : '';
  return new ReadableStream({
    pull(controller) {
      for (const end = Math.min(index + ROWS_PER_CHUNK, file.rows); index < end; index++) chunk += row(file, index);
      if (chunk.length > skip) controller.enqueue(encoder.encode(chunk.slice(skip)));
      skip = 0;
      chunk = '';
      if (index >= file.rows) controller.close();
    },
  });
}

export function addResultFile(
  { state, random, clock }: Service,
  id: number,
  file: Pick<ResultFile, 'streams' | 'identifier' | 'rows'>,
): void {
  state.results.set(id, { signature: random.string(40), ...file, deliveredAt: clock.now() });
}

/** Returns the URL of a datastream's result file, or an empty string if the activation is not completed. */
export function resultUrl({ state }: Service, id: number, stream: string, storageUrl: string): string {
  const file = state.results.get(id);
  return file ? `${storageUrl}/results/${id}/${stream}.csv?signature=${file.signature}` : '';
}
