import type { SandboxState } from '../../sandbox/index.ts';
import { readIfExists, replaceFile } from '../input/local-file.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError } from '../terminal/exit-codes.ts';

/**
 * The content of a state file: the state of a sandbox, and the token and the webhook endpoint that the command has
 * printed.
 */
export interface StateFile extends SandboxState {
  /** API token that the command has printed. */
  readonly token?: string;
  /** Webhook endpoint that the command has registered. */
  readonly webhook?: { readonly url: string; readonly secret: string };
}

/** Reads a state file. Returns `undefined` if the file does not exist. The sandbox checks the state. */
export async function readStateFile(path: string): Promise<StateFile | undefined> {
  let text: string | undefined;
  try {
    text = await readIfExists(path);
  } catch (error) {
    throw new CommandError(`The state cannot be read from ${path}: ${messageOf(error)}`, {
      code: 'usage',
      cause: error,
    });
  }
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = `${path} is not a complete state of a sandbox, and was not changed: ${messageOf(error)}`;
    throw new CommandError(message, { code: 'usage', cause: error });
  }
}

/** Replaces a state file atomically. */
export const writeStateFile = (path: string, state: StateFile): Promise<void> =>
  replaceFile(path, JSON.stringify(state));

/** Milliseconds from a change to the write. The write includes further changes during this time. */
const WRITE_DELAY_MS = 200;

/** Writes the state of a running sandbox to a file, shortly after each change and at the end. */
export class StateWriter {
  readonly #path: string;
  readonly #save: () => StateFile;
  readonly #onError: (message: string) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param onError Called if a write fails. The file then still contains the previous state. */
  constructor(path: string, save: () => StateFile, onError: (message: string) => void) {
    this.#path = path;
    this.#save = save;
    this.#onError = onError;
  }

  /** Schedules a write of the state. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.write();
    }, WRITE_DELAY_MS);
  }

  /** Writes the state after pending writes. Returns whether the write succeeded. */
  async write(): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const writing = this.#writing.then(() => writeStateFile(this.#path, this.#save()));
    this.#writing = writing.catch(() => {});
    try {
      await writing;
      return true;
    } catch (error) {
      this.#onError(`The state could not be written to ${this.#path}: ${messageOf(error)}`);
      return false;
    }
  }
}
