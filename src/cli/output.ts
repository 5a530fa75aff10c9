import { jsonText, paint, printable, type TextStream } from './terminal.ts';

/** How the results of a command are printed. */
export interface OutputFormat {
  /** JSON: one object, or a line for each row or change. */
  readonly json: boolean;
  /** Paths of the fields to print, such as `status.name`. @default all fields of an object, the main ones of a list */
  readonly fields?: readonly string[] | undefined;
}

/** Where the token in use comes from, for errors. */
export interface TokenOrigin {
  /** Variable, file or command: `AUDIENCE_TOKEN`. */
  readonly source: string;
  /** Advice if the service refuses it. */
  readonly advice: string;
}

/** Streams of a command. */
export interface Streams {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
}

/**
 * Prints the results of a command: data on standard output, everything for people on standard error. In a terminal,
 * rows are aligned; elsewhere, their fields are separated by tabs.
 */
export class Output {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly isJson: boolean;
  /** Set once a client is created. */
  token: TokenOrigin | undefined;
  readonly #fields: readonly string[] | undefined;

  constructor({ stdout, stderr }: Streams, { json, fields }: OutputFormat) {
    this.stdout = stdout;
    this.stderr = stderr;
    this.isJson = json;
    this.#fields = fields;
  }

  /** Prints one object: a field in each line; with `--fields` outside a terminal, their values in one line. */
  async object(value: object): Promise<void> {
    this.#warnOfFields(value);
    if (this.isJson) return this.json(value);
    const rows = this.#fields
      ? this.#fields.map((path) => [path, textOf(valueAt(value, path))])
      : leavesOf(value).map(([path, leaf]) => [printable(path), textOf(leaf)]);
    if (this.#fields && !this.stdout.isTTY) return this.line(rows.map(([, text]) => text).join('\t'));
    await this.#table(rows);
  }

  /**
   * Prints rows as they arrive; in a terminal, when all have arrived. Returns their number.
   *
   * @param columns Paths of the fields that are printed without `--fields`. @default the fields of the first row
   */
  async list(rows: AsyncIterable<object> | Iterable<object>, columns?: readonly string[]): Promise<number> {
    let paths = this.#fields ?? columns ?? [];
    const cells: string[][] = [];
    let count = 0;
    let first: object = {};
    for await (const row of rows) {
      if (count++ === 0) first = row;
      if (paths.length === 0) paths = leavesOf(row).map(([path]) => path);
      if (this.isJson) await this.json(row);
      else if (this.stdout.isTTY) cells.push(paths.map((path) => textOf(valueAt(row, path))));
      else await this.line(paths.map((path) => textOf(valueAt(row, path))).join('\t'));
    }
    if (cells.length > 0) {
      const header = paths.map((path) => printable(path.replace(/\.name$/, '').toUpperCase()));
      await this.#table(cells, header);
    }
    if (count > 0) this.#warnOfFields(first);
    return count;
  }

  /** Warns of fields of `--fields` that an object does not have, such as misspelt ones. */
  #warnOfFields(value: object): void {
    const missing = (this.#fields ?? []).filter((path) => !hasPath(value, path));
    if (missing.length > 0) this.log('warning', `Unknown in --fields: ${missing.join(', ')}`);
  }

  /** Prints an object as a line of JSON. */
  json(value: object): Promise<void> {
    return this.line(jsonText(this.#fields ? project(value, this.#fields) : value));
  }

  /**
   * Prints a line of data. Resolves when the stream has taken it, so that a slow reader slows the command. If the stream
   * cannot be written, such as on a full disk, the line is printed on standard error, so that no id of a create is lost.
   */
  line(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.stdout.write(`${text}\n`, (error: NodeJS.ErrnoException | null | undefined) => {
        if (error && error.code !== 'EPIPE') this.stderr.write(`${text}\n`);
        resolve();
      });
    });
  }

  /** Prints a line for people; nothing with `--json`. */
  note(text: string): void {
    if (!this.isJson) this.stderr.write(`${printable(text)}\n`);
  }

  /** Prints a line that programs should see, too: with `--json`, as an object with `level` and `message`. */
  log(level: 'warning' | 'info' | 'debug', message: string): void {
    if (this.isJson) this.stderr.write(`${jsonText({ level, message })}\n`);
    else if (level === 'warning')
      this.stderr.write(`${paint('yellow', 'warning:', this.stderr)} ${printable(message)}\n`);
    else this.note(message);
  }

  async #table(rows: readonly (readonly string[])[], header?: readonly string[]): Promise<void> {
    if (!this.stdout.isTTY) {
      for (const row of rows) await this.line(row.join('\t'));
      return;
    }
    // Its tables of wide characters take longer to load than a short command runs.
    const { default: stringWidth } = await import('string-width');
    const all = header ? [header, ...rows] : rows;
    const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => stringWidth(row[column] ?? ''))));
    const align = (row: readonly string[]): string =>
      row
        .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(cell))))
        .join('  ')
        .trimEnd();
    if (header) await this.line(paint('dim', align(header), this.stdout));
    for (const row of rows) await this.line(align(row));
  }
}

/** Returns the value at a path such as `status.name`, of an object's own fields only. */
function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, key) => (Object.hasOwn(Object(at), key) ? Object(at)[key] : undefined), value);
}

/** Returns whether a value has a path; below `null`, an array or a missing object, any field is possible. */
function hasPath(value: unknown, path: string): boolean {
  const [key = '', ...rest] = path.split('.');
  if (!isRecord(value) || Array.isArray(value)) return value === null;
  return Object.hasOwn(value, key) && (rest.length === 0 || hasPath(value[key], rest.join('.')));
}

/** An object without a prototype, in which every name is that of a field. */
const emptyObject = (): Record<string, unknown> => Object.create(null);

/** Returns an object with some of an object's fields, in its own shape. */
function project(value: object, paths: readonly string[]): object {
  const result = emptyObject();
  for (const path of paths) {
    const keys = path.split('.');
    const last = keys.pop() ?? path;
    let target = result;
    for (const key of keys) {
      const next = isRecord(target[key]) ? target[key] : emptyObject();
      target[key] = next;
      target = next;
    }
    target[last] = valueAt(value, path) ?? null;
  }
  return result;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the paths and values of an object's fields; arrays and empty objects count as values. */
function leavesOf(value: object, prefix = ''): (readonly [string, unknown])[] {
  return Object.entries(value).flatMap(([key, field]) => {
    const isGroup =
      typeof field === 'object' && field !== null && !Array.isArray(field) && Object.keys(field).length > 0;
    return isGroup ? leavesOf(field, `${prefix}${key}.`) : [[`${prefix}${key}`, field] as const];
  });
}

/** Returns the text of a value in a cell. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return printable(typeof value === 'object' ? JSON.stringify(value) : String(value));
}
