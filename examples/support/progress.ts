import { clearLine, cursorTo } from 'node:readline';

/** A line of output that is updated in place, if the output is a terminal. */
export interface ProgressLine {
  /** Shows a state until the next one replaces it. */
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
