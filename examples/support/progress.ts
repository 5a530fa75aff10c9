import { clearLine, cursorTo } from 'node:readline';

/** A line that is updated in a terminal; elsewhere, plain lines. */
export interface ProgressLine {
  /** Shows a temporary state. */
  update(text: string): void;
  /** Prints a line that stays. */
  line(text: string): void;
  end(): void;
}

/** Creates a progress line on standard output. */
export function showProgress(output: NodeJS.WriteStream = process.stdout): ProgressLine {
  let shown = '';
  const wipe = (): void => {
    if (!output.isTTY || shown === '') return;
    clearLine(output, 0);
    cursorTo(output, 0);
    shown = '';
  };
  return {
    update(text) {
      if (output.isTTY) {
        wipe();
        output.write(`… ${text}`);
      } else if (text !== shown) {
        output.write(`… ${text}\n`);
      }
      shown = text;
    },
    line(text) {
      wipe();
      output.write(`${text}\n`);
    },
    end: wipe,
  };
}
