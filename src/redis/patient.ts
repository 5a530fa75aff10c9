import { type RedisClient, type RunScript, scriptRunner } from './commands.ts';

/** How a script is tried. */
export interface Patience {
  /** How long it is tried, and its answer awaited. Milliseconds. */
  readonly limit: number;
  /** What is thrown for a cause that quotes nothing that was sent. */
  fail(cause: Error): Error;
}

/** A script that failed for now is tried again after these; at random, so that processes do not move in step. Milliseconds. */
const AGAIN = { first: 20, longest: 400 } as const;

/** What a client says that was closed. */
const CLOSED: ReadonlySet<string> = new Set(['The client is closed', 'Disconnects client', 'Connection is closed.']);

/** Answers of a server that starts, or of one that is no longer, or not yet, the right one. */
const FOR_NOW = /^(?:LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|UNBLOCKED)\b/;

/** The first word of an answer that is an error. */
const REFUSAL = /^[A-Z]{2,}\b/;

/** A message that has so much in common with what was sent quotes it. Characters. */
const QUOTED = 8;

/** As {@link RunScript}, until a time of `performance.now()`: for as long as usual unless given. */
export type PatientRun = (...call: [...Parameters<RunScript>, until?: number]) => Promise<unknown>;

/**
 * Runs scripts that may be run twice: a connection that broke, and a server that starts, are got over. Both
 * clients keep commands until there is a connection again, which may be never; what was given up may be run then.
 */
export function patientRunner(client: RedisClient, { limit, fail }: Patience): PatientRun {
  const run = scriptRunner(client);
  return async (script, key, args, until = performance.now() + limit) => {
    let last: unknown;
    for (let wait: number = AGAIN.first; ; wait = Math.min(2 * wait, AGAIN.longest)) {
      try {
        return await within(run(script, key, args), until - performance.now(), () => OVER);
      } catch (error) {
        // What went wrong before says more than that time is over.
        last = error === OVER ? (last ?? unanswered(limit)) : error;
        if (error === OVER || isFinal(error, client) || performance.now() + wait >= until)
          throw fail(cleanCause(last, args));
      }
      await pause(wait);
    }
  };
}

const OVER = new Error('Over');

const unanswered = (limit: number): Error => new Error(`Redis has not answered for ${limit / 1_000} seconds`);

/** Waits for about so long. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms * (0.5 + Math.random() / 2)));
}

/** What becomes of `work`, if it does within `ms`. */
export async function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.max(0, ms));
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

function isFinal(error: unknown, client: RedisClient): boolean {
  if (!(error instanceof Error) || error instanceof TypeError) return true;
  return isClosed(client, error) || (REFUSAL.test(error.message) && !FOR_NOW.test(error.message));
}

/** Whether the owner has closed a client. A cluster closes clients of its own, those of nodes that are gone. */
function isClosed(client: RedisClient, { message }: Error): boolean {
  if ('isOpen' in client) return client.isOpen === false;
  return 'status' in client ? client.status === 'end' : CLOSED.has(message);
}

/** A copy without what clients add, such as the command with all of its arguments, and without a message that quotes them. */
function cleanCause(error: unknown, args: readonly (string | number)[]): Error {
  if (!(error instanceof Error)) return new Error('The client failed with what is no error');
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // Of a command that it has kept for too long, node-redis has the name of a class to tell only.
  const told = error.message || code || error.constructor.name;
  const [word = error.name] = REFUSAL.exec(told) ?? [];
  const clean = new Error(quotes(told, args) ? `${word} (the rest quotes what was sent)` : told);
  Object.defineProperty(clean, 'name', { value: error.name, configurable: true, writable: true });
  return code === undefined ? clean : Object.assign(clean, { code });
}

/** Servers quote the arguments of a command that they do not know, cut anywhere. */
function quotes(message: string, args: readonly (string | number)[]): boolean {
  const pieces = new Set(piecesOf(message));
  return args.some((arg) => piecesOf(String(arg)).some((piece) => pieces.has(piece)));
}

function piecesOf(text: string): string[] {
  return Array.from({ length: Math.max(0, text.length - QUOTED + 1) }, (_, at) => text.slice(at, at + QUOTED));
}
