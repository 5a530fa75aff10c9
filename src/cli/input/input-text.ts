import { isUtf8 } from 'node:buffer';
import { messageOf } from '../terminal/error-texts.ts';
import { usageError } from '../terminal/exit-codes.ts';

/** First bytes of formats that people mistake for text, with advice. */
const FORMATS: readonly (readonly [bytes: readonly number[], advice: string])[] = [
  [[0x50, 0x4b], 'is a spreadsheet (xlsx) or a zip file. In Excel, save it as "CSV UTF-8".'],
  [[0x1f, 0x8b], 'is compressed with gzip: decompress it first.'],
  [[0xff, 0xfe], 'is UTF-16, not UTF-8. In Excel, save it as "CSV UTF-8" instead of "Unicode Text".'],
  [[0xfe, 0xff], 'is UTF-16, not UTF-8.'],
];

/** Returns the format of bytes and advice, if people often mistake the format for text. */
export const formatAdvice = (bytes: Uint8Array): string | undefined =>
  FORMATS.find(([start]) => start.every((byte, at) => bytes[at] === byte))?.[1];

/**
 * Decodes input as UTF-8. Removes the byte order mark.
 *
 * @param source Name of the input in a message.
 * @throws {CommandError} with the line number, for bytes that are not UTF-8.
 */
export function decodeText(bytes: Buffer, source: string): string {
  const advice = formatAdvice(bytes);
  if (advice !== undefined) throw usageError(`${source} ${advice}`);
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  // The byte 0x0a is always a line feed, in UTF-8 and in the code pages of Windows.
  let line = 1;
  for (let start = 0, end = 0; end !== -1; start = end + 1, line++) {
    end = bytes.indexOf('\n', start);
    if (!isUtf8(bytes.subarray(start, end === -1 ? undefined : end))) break;
  }
  throw usageError(`${source}: line ${line} is not UTF-8. Save the file as UTF-8, in Excel as "CSV UTF-8".`);
}

/**
 * Parses JSON to send. Refuses JSON whose large numbers or fields would change.
 *
 * @param source Name of the text in a message.
 * @throws {CommandError} for text that is not JSON, a number beyond the safe integers, a field twice in one object, or a
 * field `__proto__`.
 */
export function parseJsonText(text: string, source: string): unknown {
  try {
    const value: unknown = JSON.parse(text, (name, field: unknown) => {
      if (name === '__proto__') throw usageError(`${source} must not have a field "__proto__".`);
      if (typeof field === 'number' && Math.abs(field) > Number.MAX_SAFE_INTEGER)
        throw usageError(
          `${source}: "${name}" is beyond ${Number.MAX_SAFE_INTEGER}, so the command would round the number.`,
        );
      return field;
    });
    const repeated = repeatedField(text);
    if (repeated !== undefined) throw usageError(`${source} has the field "${repeated}" twice in one object.`);
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The message of the parser quotes the input, which may contain secrets.
    const [position = ''] = / at position \d+/.exec(messageOf(error)) ?? [];
    throw usageError(`${source} must be valid JSON: syntax error${position}.`);
  }
}

/** Matches a string of JSON, with the colon after a field name, or a bracket of an object or array. */
const JSON_TOKENS = /("(?:[^"\\]|\\.)*")\s*(:)?|[[\]{}]/g;

/** Returns the first field that occurs twice in an object of a JSON text. */
function repeatedField(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, name, colon] of text.matchAll(JSON_TOKENS)) {
    if (name === undefined) {
      if (token === '{' || token === '[') open.push(new Set());
      else open.pop();
    } else if (colon) {
      const field = String(JSON.parse(name));
      const fields = open.at(-1);
      if (fields?.has(field)) return field;
      fields?.add(field);
    }
  }
  return undefined;
}
