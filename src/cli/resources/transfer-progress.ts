import type { Output } from '../terminal/output.ts';
import { formatBytes, isLive, printable, truncated, widthOf } from '../terminal/terminal.ts';

/** Shows the progress of a transfer. */
export interface TransferProgress {
  update(name: string, loaded: number, total: number | undefined): void;
  close(): void;
}

const BAR_WIDTH = 24;

/** Share of a transfer between two lines, where no terminal shows a bar. */
const LINE_SHARE = 0.1;

/** Bytes between two lines of a transfer whose size is not known. */
const LINE_BYTES = 64 * 2 ** 20;

/** Interval between two drawings of the bar. */
const REDRAW_MS = 100;

/** Creates the progress of transfers: a bar in a terminal, a line for each tenth elsewhere, nothing with `--json`. */
export async function createTransferProgress(output: Output): Promise<TransferProgress> {
  const { stderr } = output;
  if (output.isJson || output.isQuiet) return { update() {}, close() {} };
  if (!isLive(stderr)) return plainLines(output);
  const { createLogUpdate } = await import('log-update');
  const { default: stringWidth } = await import('string-width');
  // log-update only writes to the stream and reads its size.
  const draw = createLogUpdate(stderr as NodeJS.WriteStream, { showCursor: true });
  let drawnAt = Number.NEGATIVE_INFINITY;
  let line = '';
  return {
    update(name, loaded, total) {
      line = truncated(barOf(name, loaded, total), widthOf(stderr) - 1, stringWidth);
      const isComplete = loaded === total;
      if (!isComplete && performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      draw(line);
    },
    close() {
      if (line !== '') draw(line);
      draw.done();
    },
  };
}

function barOf(name: string, loaded: number, total: number | undefined): string {
  const share = total ? loaded / total : 0;
  const filled = Math.round(share * BAR_WIDTH);
  const bar = total === undefined ? '' : `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} `;
  const amount = total === undefined ? formatBytes(loaded) : `${formatBytes(loaded)} of ${formatBytes(total)}`;
  return `${bar}${amount}  ${printable(name)}`;
}

function plainLines(output: Output): TransferProgress {
  const steps = new Map<string, number>();
  return {
    update(name, loaded, total) {
      const step = total ? Math.floor(loaded / total / LINE_SHARE) : Math.floor(loaded / LINE_BYTES);
      if (step <= (steps.get(name) ?? 0)) return;
      steps.set(name, step);
      const share = total ? ` (${Math.floor((100 * loaded) / total)} %)` : '';
      output.note(`${printable(name)}: ${formatBytes(loaded)}${share}`);
    },
    close() {},
  };
}
