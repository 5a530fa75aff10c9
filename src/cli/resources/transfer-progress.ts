import type { Output } from '../terminal/output.ts';
import { createRedrawnBlock } from '../terminal/redrawn-block.ts';
import { formatBytes, isLive, printable } from '../terminal/terminal.ts';

export interface TransferProgress {
  update(name: string, loaded: number, total: number | undefined): void;
  close(): void;
}

const BAR_WIDTH = 24;

/** Share of a transfer between two progress lines, if there is no terminal for a bar. */
const LINE_SHARE = 0.1;

/** Bytes between two progress lines of a transfer whose size is unknown. */
const LINE_BYTES = 64 * 2 ** 20;

/** Milliseconds between two drawings of the bar. */
const REDRAW_MS = 100;

/**
 * Creates the progress display of transfers: a bar in a terminal, a line per tenth elsewhere. With `--json` or
 * `--quiet`, displays nothing.
 */
export async function createTransferProgress(output: Output): Promise<TransferProgress> {
  if (output.isJson || output.isQuiet) return { update() {}, close() {} };
  if (!isLive(output.stderr)) return plainLines(output);
  let drawnAt = Number.NEGATIVE_INFINITY;
  let line = '';
  const block = await createRedrawnBlock(output, ({ cut }) => [cut(line)]);
  return {
    update(name, loaded, total) {
      line = barOf(name, loaded, total);
      if (loaded !== total && performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      block.redraw();
    },
    close: block.close,
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
