import type { Service } from '../service.ts';
import type { ResultFile } from '../state.ts';

/** The lines of a result file: a header, then one made-up identifier a device, all rows of one length. */
const header = ({ identifier }: ResultFile): string => `${identifier.toLowerCase()}\n`;
const row = ({ identifier }: ResultFile, at: number): string => `${identifier}-${String(at).padStart(12, '0')}\n`;

/** Rows made at a time. */
const BATCH = 2_000;

/** Bytes of a result file. */
export const resultLength = (file: ResultFile): number => header(file).length + file.rows * row(file, 0).length;

/** A result file from byte `from` on, made while it is read. */
export function readResult(file: ResultFile, from: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const head = header(file);
  const width = row(file, 0).length;
  let at = Math.max(0, Math.floor((from - head.length) / width));
  let skip = from < head.length ? from : from - head.length - at * width;
  let text = from < head.length ? head : '';
  return new ReadableStream({
    pull(controller) {
      for (const end = Math.min(at + BATCH, file.rows); at < end; at++) text += row(file, at);
      if (text.length > skip) controller.enqueue(encoder.encode(text.slice(skip)));
      skip = 0;
      text = '';
      if (at >= file.rows) controller.close();
    },
  });
}

/** Registers what an activation has delivered. */
export function deliverResult({ state, random, clock }: Service, id: number, identifier: string, rows: number): void {
  state.results.set(id, { signature: random.text(40), identifier, rows, deliveredAt: clock.now() });
}

/** Where the results of an activation can be read in a storage; empty before. */
export function resultUri({ state }: Service, id: number, storage: string): string {
  const file = state.results.get(id);
  return file ? `${storage}/results/${id}/devices.csv?signature=${file.signature}` : '';
}
