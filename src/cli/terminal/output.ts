import { styleText } from 'node:util';
import type { OperationName } from '../../spec/operations.ts';
import { hasColors, jsonText, printable, type Style, type TextStream, truncated, widthOf } from './terminal.ts';

/** Format of the results of a command. */
export interface OutputFormat {
  /** Prints JSON: an object, or a line for each row or change. */
  readonly json: boolean;
  /**
   * Paths of the fields to print, such as `status.name`.
   * @default all fields of an object, the main fields of a list
   */
  readonly fields?: readonly string[] | undefined;
  /** Prints data and errors only. */
  readonly quiet?: boolean | undefined;
}

/** Origin of the printed objects, which decides whether `--fields` may name an unknown field. */
export interface FieldSource {
  /** Operation whose response the OpenAPI document describes. Without it, only the fields of the printed object are known. */
  readonly operation?: OperationName;
  /** True if the command has done its work. Then unknown fields cause only a warning. */
  readonly isDone?: boolean;
  /** True if rows are sentences, which a narrow terminal wraps instead of truncating. */
  readonly isWrapped?: boolean;
}

/** Source of the current token, for errors. */
export interface TokenOrigin {
  /** Variable, file or command, such as `AUDIENCE_TOKEN`. */
  readonly source: string;
  /** Advice if the service refuses the token. */
  readonly advice: string;
}

/** Streams and environment of the process that runs a command. */
export interface OutputProcess {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Error codes of writes after the reader has closed the output: the first write fails with `EPIPE`, later writes with
 * `ERR_STREAM_DESTROYED`.
 */
const GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/**
 * Prints the results of a command: data on standard output, messages on standard error. Aligns rows in a terminal, and
 * otherwise separates their fields with tabs.
 */
export class Output {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** Set when the client is created. */
  token: TokenOrigin | undefined;
  /** Called for each failed poll. Set while a command reads each job only once (`--timeout 0`). */
  onPollFailed: ((error: unknown) => void) | undefined;
  readonly #fields: readonly string[] | undefined;
  readonly #env: NodeJS.ProcessEnv;

  constructor({ stdout, stderr, env }: OutputProcess, { json, fields, quiet = false }: OutputFormat) {
    this.stdout = stdout;
    this.stderr = stderr;
    this.isJson = json;
    this.isQuiet = quiet;
    this.#fields = fields;
    this.#env = env;
  }

  /** Prints one object with one field per line. With `--fields` outside a terminal, prints the values in one line. */
  async object(value: object, source: FieldSource = {}): Promise<void> {
    await this.checkFields(value, source);
    if (this.isJson) return this.json(value);
    const rows = this.#fields
      ? this.#fields.map((path) => [path, textOf(valueAt(value, path))])
      : leavesOf(value).map(([path, leaf]) => [printable(path), textOf(leaf)]);
    if (this.#fields && !this.stdout.isTTY) return this.line(rows.map(([, text]) => text).join('\t'));
    await this.#table(rows);
  }

  /**
   * Prints rows as they arrive or, in a terminal, when all have arrived. Returns their number.
   *
   * @param columns Paths of the fields that are printed without `--fields`. @default the fields of the first row
   */
  async list(
    rows: AsyncIterable<object> | Iterable<object>,
    columns?: readonly string[],
    source: FieldSource = {},
  ): Promise<number> {
    let paths = this.#fields ?? columns ?? [];
    const cells: string[][] = [];
    let count = 0;
    for await (const row of rows) {
      if (count++ === 0) await this.checkFields(row, source);
      if (paths.length === 0) paths = leavesOf(row).map(([path]) => path);
      if (this.isJson) await this.json(row);
      else if (this.stdout.isTTY) cells.push(paths.map((path) => textOf(valueAt(row, path))));
      else await this.line(paths.map((path) => textOf(valueAt(row, path))).join('\t'));
    }
    if (cells.length > 0) {
      const header = paths.map((path) => printable(path.replace(/\.name$/, '').toUpperCase()));
      await this.#table(cells, header, source.isWrapped);
    }
    if (count === 0 && source.operation) await this.checkFields(undefined, source);
    return count;
  }

  /**
   * Checks that the object, or the response in the OpenAPI document, has each field of `--fields`.
   *
   * @throws {CommandError} for an unknown field. If the command has done its work, logs a warning instead.
   */
  async checkFields(value: object | undefined, { operation, isDone }: FieldSource): Promise<void> {
    const missing = (this.#fields ?? []).filter((path) => !hasPath(value, path));
    if (missing.length === 0) return;
    const { checkField } = await import('./known-fields.ts');
    try {
      for (const path of missing) checkField(path, value, operation);
    } catch (error) {
      if (!isDone) throw error;
      this.log('warning', Object(error).message);
    }
  }

  /** Prints an object as a line of JSON. */
  json(value: object): Promise<void> {
    return this.line(jsonText(this.#fields ? project(value, this.#fields) : value));
  }

  /**
   * Prints a line of data. Resolves when the stream has accepted the line, so that a slow reader slows the command. If
   * writing fails, for example because the disk is full, prints the line on standard error, so that no id of a created
   * resource is lost.
   */
  line(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.stdout.write(`${text}\n`, (error: NodeJS.ErrnoException | null | undefined) => {
        if (error && !GONE.has(error.code)) this.stderr.write(`${text}\n`);
        resolve();
      });
    });
  }

  /** Prints a message. Prints nothing with `--json` or `--quiet`. */
  note(text: string): void {
    if (!this.isJson && !this.isQuiet) this.stderr.write(`${printable(text)}\n`);
  }

  /** Prints a message, except with `--quiet`. With `--json`, prints it as an object with `level` and `message`. */
  log(level: 'warning' | 'info' | 'debug', message: string): void {
    if (this.isQuiet) return;
    if (this.isJson) this.stderr.write(`${jsonText({ level, message })}\n`);
    else if (level === 'warning')
      this.stderr.write(`${this.paint('yellow', 'warning:', this.stderr)} ${printable(message)}\n`);
    else this.note(message);
  }

  /** Returns a string in a style, if a stream of this output shows colors. */
  paint(style: Style, text: string, stream: TextStream): string {
    return hasColors(stream, this.#env) ? styleText(style, text, { validateStream: false }) : text;
  }

  async #table(
    rows: readonly (readonly string[])[],
    header?: readonly string[],
    isWrapped = header === undefined,
  ): Promise<void> {
    if (!this.stdout.isTTY) {
      for (const row of rows) await this.line(row.join('\t'));
      return;
    }
    // Import `string-width` only here: loading its tables takes longer than a short command.
    const { default: stringWidth } = await import('string-width');
    const all = header ? [header, ...rows] : rows;
    const natural = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => stringWidth(row[column] ?? ''))));
    // Do not truncate the values of a single object.
    const widths = isWrapped ? natural : fitted(natural, widthOf(this.stdout) - GAP.length * (natural.length - 1));
    const align = (row: readonly string[]): string =>
      row
        .map((cell, column) => {
          const text = isWrapped ? cell : truncated(cell, widths[column] ?? 0, stringWidth);
          return text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)));
        })
        .join(GAP)
        .trimEnd();
    if (header) await this.line(this.paint('dim', align(header), this.stdout));
    for (const row of rows) await this.line(align(row));
  }
}

const GAP = '  ';

/** Returns column widths for a table of a given width: narrows the widest columns. */
function fitted(widths: readonly number[], total: number): readonly number[] {
  const sumOf = (max: number): number => widths.reduce((sum, width) => sum + Math.min(width, max), 0);
  let max = Math.max(0, ...widths);
  while (max > 1 && sumOf(max) > total) max--;
  return widths.map((width) => Math.min(width, max));
}

/** Returns an own property of an object, or an element of an array. */
function fieldOf(value: unknown, key: string): unknown {
  const isField = Array.isArray(value) ? /^\d+$/.test(key) : Object.hasOwn(Object(value), key);
  return isField ? Object(value)[key] : undefined;
}

/** Returns the value at a path such as `status.name` or `datastreams.0.name`. */
const valueAt = (value: unknown, path: string): unknown => path.split('.').reduce(fieldOf, value);

/** Returns whether an object has a value at a path. */
function hasPath(value: unknown, path: string): boolean {
  const [key = '', ...rest] = path.split('.');
  if (!isRecord(value) || !Object.hasOwn(value, key) || (Array.isArray(value) && !/^\d+$/.test(key))) return false;
  return rest.length === 0 || hasPath(value[key], rest.join('.'));
}

/** An object without a prototype, so that every name is a field. */
const emptyObject = (): Record<string, unknown> => Object.create(null);

/** Returns a copy of an object with only the fields at the given paths. */
function project(value: object, paths: readonly string[]): object {
  const result = emptyObject();
  for (const path of paths) {
    const keys = path.split('.');
    let target = result;
    let source: unknown = value;
    for (const [index, key] of keys.entries()) {
      const field = fieldOf(source, key);
      if (Array.isArray(source) && field === undefined) break;
      const empty: unknown = Array.isArray(field) ? [] : emptyObject();
      const next = isRecord(target[key]) ? target[key] : empty;
      target[key] = index === keys.length - 1 ? (field ?? null) : next;
      if (isRecord(next)) target = next;
      source = field;
    }
  }
  return result;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the paths and values of an object's fields. Arrays and empty objects count as values. */
function leavesOf(value: object, prefix = ''): (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([key, field]) => {
    const isGroup =
      typeof field === 'object' && field !== null && !Array.isArray(field) && Object.keys(field).length > 0;
    return isGroup ? leavesOf(field, `${prefix}${key}.`) : [[`${prefix}${key}`, field] as const];
  });
}

/** Returns a value as the text of a table cell. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
