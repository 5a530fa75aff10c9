import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, usageError } from '../terminal/exit-codes.ts';
import { decodeText, parseJsonText } from './input-text.ts';
import { type Input, openPipe } from './pipes.ts';
import type { BodyFlag } from './resource-table.ts';

/** A JSON object to send. */
export type Body = Readonly<Record<string, unknown>>;

/** Returns the bytes of standard input. Returns none if standard input is a terminal. */
export async function readStdinBytes({ stdin: open, signal }: Input): Promise<Buffer> {
  const stdin = open();
  return stdin.isTTY ? Buffer.alloc(0) : buffer(addAbortSignal(signal, stdin));
}

/**
 * Returns standard input as a string, empty for a terminal.
 *
 * @throws {CommandError} if standard input is not UTF-8.
 */
export const readStdin = async (input: Input): Promise<string> =>
  decodeText(await readStdinBytes(input), 'Standard input');

/**
 * Returns the JSON value of `--data`: the text itself, `@file`, or `-` (also `@-`) for standard input.
 *
 * @throws {CommandError} if the file cannot be read, or if {@link parseJsonText} refuses the text.
 */
export async function readData(data: string, input: Input, flag = '--data'): Promise<unknown> {
  if (/^@?-$/.test(data)) {
    const text = await readStdin(input);
    if (text.trim() !== '') return parseJsonText(text, 'Standard input');
    throw usageError(`Standard input is empty: pass the JSON through a pipe, or with ${flag}.`);
  }
  return data.startsWith('@') ? readJsonFile(data.slice(1), input) : parseJsonText(data, flag);
}

/**
 * Returns the JSON value of a file.
 *
 * @throws {CommandError} if the file cannot be read, or is not JSON.
 */
export const readJsonFile = async (path: string, input: Input): Promise<unknown> =>
  parseJsonText(await readText(path, input), path);

/**
 * Returns the text of a file.
 *
 * @throws {CommandError} if the file cannot be read, or is not UTF-8.
 */
export async function readText(path: string, input: Input): Promise<string> {
  try {
    const pipe = await openPipe(path, input);
    return decodeText(pipe ? await buffer(pipe) : await readFile(path, input), path);
  } catch (cause) {
    input.signal.throwIfAborted();
    if (cause instanceof CommandError) throw cause;
    throw new CommandError(`${path} cannot be read: ${messageOf(cause)}`, { code: 'input-unreadable', cause });
  }
}

/**
 * Returns the body of a create request: the object of `--data` or standard input, with the fields of the flags added.
 * Reads standard input only for `--data -`, or if neither `--data` nor a flag sets a field.
 */
export async function readBody(
  rows: readonly BodyFlag[],
  flags: Readonly<Record<string, unknown>>,
  input: Input,
): Promise<Body> {
  const values = rows.flatMap((row) => {
    const value = flags[attributeOf(row)];
    return value === undefined ? [] : [{ row, value }];
  });
  const { data } = flags;
  const isPiped = values.length === 0 && data === undefined && !input.stdin().isTTY;
  const base = typeof data === 'string' || isPiped ? await readData(String(data ?? '-'), input) : {};
  if (typeof base !== 'object' || base === null || Array.isArray(base))
    throw usageError('The body must be a JSON object.');
  const body = values.reduce<Body>(
    (object, { row, value }) => {
      return withField(object, row.field.split('.'), parseValue(row, value));
    },
    { ...base },
  );
  if (Object.keys(body).length === 0)
    throw usageError('The body is empty: pass its fields as flags, with --data, or on standard input.');
  return body;
}

/** Returns the property in which commander stores the value of a flag: `targetSize` for `--target-size <n>`. */
function attributeOf({ flag }: BodyFlag): string {
  const [long = ''] = flag.replace(/^--/, '').split(' ');
  return long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function parseValue({ type, flag }: BodyFlag, value: unknown): unknown {
  if (type === 'dataset') return [value].flat().map((text) => parseDataset(String(text)));
  if (type !== 'json') return value;
  return parseJsonText(String(value), String(flag.split(' ')[0]));
}

/** Parses a dataset such as `WebDomain:2026-10-20:2026-11-20`. */
function parseDataset(text: string): Body {
  const [, analysis_type, start_date, end_date] = /^([^:]+):(\d{4}-\d\d-\d\d):(\d{4}-\d\d-\d\d)$/.exec(text) ?? [];
  if (analysis_type === undefined)
    throw usageError(`--dataset must be type:start:end, such as WebDomain:2026-10-20:2026-11-20, not "${text}".`);
  return { analysis_type, start_date, end_date };
}

/** Returns a copy of an object with the field at a path set. */
export function withField(object: Body, [key = '', ...rest]: readonly string[], value: unknown): Body {
  const inner = rest.length === 0 ? value : withField(Object(object[key]), rest, value);
  return { ...object, [key]: inner };
}
