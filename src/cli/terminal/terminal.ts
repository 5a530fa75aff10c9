/** A stream of the command: standard output or standard error. */
export type TextStream = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns' | 'rows'>;

export type Style = 'red' | 'green' | 'yellow' | 'dim' | 'bold';

/** Width of a terminal that does not report its width. */
const DEFAULT_WIDTH = 80;

/** Returns whether a stream shows colors. Reads NO_COLOR, CLICOLOR_FORCE and CLICOLOR (no-color.org, bixense.com/clicolors). */
export function hasColors(stream: Pick<TextStream, 'isTTY'>, env: NodeJS.ProcessEnv): boolean {
  if (env.NO_COLOR) return false;
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0') return true;
  return stream.isTTY === true && env.CLICOLOR !== '0' && env.TERM !== 'dumb';
}

/**
 * Replaces control characters and other characters that a terminal would interpret. Keeps the joiners of emoji and
 * letters (U+200C, U+200D), and the tags of regional flags (after U+1F3F4).
 */
export const printable = (text: string): string =>
  text.replace(
    /(?![\u200c\u200d])(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]*(?=[\u{e0020}-\u{e007f}]))[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    '?',
  );

/** Truncates a string to a width, and ends it with an ellipsis. Never splits a visible character. */
export function truncated(text: string, width: number, widthOfText: (text: string) => number): string {
  if (widthOfText(text) <= width) return text;
  let result = '';
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOfText(result + segment) > width - 1) break;
    result += segment;
  }
  return `${result}…`;
}

/** Returns a value as JSON. Also escapes control characters that JSON permits and terminals interpret. */
export function jsonText(value: unknown, indent = 0): string {
  const escapeControl = (char: string): string => `\\u00${char.charCodeAt(0).toString(16)}`;
  return (JSON.stringify(value, null, indent) ?? 'null').replace(/[\u007f-\u009f]/g, escapeControl);
}

/** Returns a string as one word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Returns whether lines of a stream can be redrawn: the stream is a terminal with a known size. */
export const isLive = ({ isTTY, columns, rows }: TextStream): boolean => isTTY === true && columns > 0 && rows > 0;

export const widthOf = ({ columns }: TextStream): number => columns || DEFAULT_WIDTH;

/** Formats a duration, such as `1:02:03` or `4:05`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Formats a number of bytes, such as `12.5 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${power === 0 ? bytes : (bytes / 2 ** (10 * power)).toFixed(1)} ${units[power]}`;
}
