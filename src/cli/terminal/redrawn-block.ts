import type { Output } from './output.ts';
import { formatElapsed, truncated, widthOf } from './terminal.ts';

/** Lines of a terminal that are redrawn after each change and every second. */
export interface RedrawnBlock {
  redraw(): void;
  close(): void;
}

/** What a function needs to draw the lines of a block. */
export interface Drawing {
  /** Truncates a text to the width of the terminal. */
  readonly cut: (text: string) => string;
  /** Maximum number of lines that fit in the terminal. */
  readonly maximum: number;
  /** Formatted time since the block was created. */
  readonly elapsed: string;
}

/** Milliseconds between redraws of the elapsed time. */
const REDRAW_MS = 1_000;

/** Draws a block on standard error, which must be a terminal. */
export async function createRedrawnBlock(
  { stdout, stderr }: Output,
  render: (drawing: Drawing) => readonly string[],
): Promise<RedrawnBlock> {
  const { createLogUpdate } = await import('log-update');
  const { default: stringWidth } = await import('string-width');
  // log-update only writes to the stream and reads its size.
  const draw = createLogUpdate(stderr as NodeJS.WriteStream, { showCursor: true });
  const startedAt = performance.now();
  const cut = (text: string): string => truncated(text, widthOf(stderr) - 1, stringWidth);
  const redraw = (): void => {
    const maximum = Math.max(1, (stderr.rows || 24) - 2);
    const lines = render({ cut, maximum, elapsed: formatElapsed(performance.now() - startedAt) });
    draw(lines.join('\n'));
  };
  const timer = setInterval(redraw, REDRAW_MS);
  redraw();
  return {
    redraw,
    close() {
      clearInterval(timer);
      redraw();
      // If standard output is a terminal, it shows the results, which replace the block.
      if (stdout.isTTY) draw.clear();
      else draw.done();
    },
  };
}
