import type { Output } from '../terminal/output.ts';
import { formatAdvice } from './input-text.ts';

/** Number of bytes to inspect at the beginning of a file. */
const HEAD_SIZE = 65_536;

/**
 * Warns about a file that the service would probably import as a cohort without devices. The specification does not say
 * which formats the service accepts.
 *
 * @param label Name of the file in the warning.
 */
export async function warnOfList(data: Blob, label: string, output: Output): Promise<void> {
  const head = new Uint8Array(await data.slice(0, HEAD_SIZE).arrayBuffer());
  const advice = formatAdvice(head);
  if (advice !== undefined) output.log('warning', `${label} ${advice} The command uploads the file unchanged.`);
  else if (head.includes(0))
    output.log('warning', `${label} is not text: it contains NUL bytes. The command uploads the file unchanged.`);
  else if (data.size <= HEAD_SIZE && linesOf(head) < 2)
    output.log('warning', `${label} has only one line. If that line names the columns, the cohort will have no rows.`);
}

/** Returns the number of lines that are not blank. */
const linesOf = (bytes: Uint8Array): number =>
  new TextDecoder()
    .decode(bytes)
    .split(/[\r\n]+/)
    .filter((line) => line.trim() !== '').length;
