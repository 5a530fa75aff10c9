import { isObject, parseJson } from '../../util/json.ts';
import type { Id } from './evidence.ts';

/** Something that a check is about to create, or has created and not deleted yet. */
export interface JournalEntry {
  /** Namespace of the resource. */
  readonly kind: 'projects' | 'audiences' | 'lookalikes' | 'activations';
  /** Request of the create. */
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
  /** When it was first sent, in milliseconds since 1970. */
  readonly at: number;
  /** Ids of what was certainly created. */
  readonly ids: readonly Id[];
  /** Ids in the list before the create: none of them is the check's own. Without them, nothing is deleted. */
  readonly before?: readonly Id[] | undefined;
}

/** Keeps one entry, so that a check that was killed can be cleaned up by the next one. */
export interface Journal {
  load(): Promise<JournalEntry | undefined>;
  /** Keeps an entry instead of the one before; `undefined` removes it. Resolves when a killed process would not lose it. */
  save(entry: JournalEntry | undefined): Promise<void>;
}

/** Returns a journal in memory. */
export function memoryJournal(): Journal {
  let kept: JournalEntry | undefined;
  return {
    load: async () => kept,
    save: async (entry) => {
      kept = entry;
    },
  };
}

const KINDS: readonly unknown[] = ['projects', 'audiences', 'lookalikes', 'activations'];

/** Returns the entry that a check has written as JSON; `undefined` for anything else. */
export function parseEntry(text: string): JournalEntry | undefined {
  const entry = parseJson(text);
  return isEntry(entry) ? entry : undefined;
}

function isEntry(value: unknown): value is JournalEntry {
  if (!isObject(value)) return false;
  const { kind, path, key, at, ids, before = [] } = value;
  const areTexts = typeof path === 'string' && typeof key === 'string' && typeof at === 'number';
  const areIds = (list: unknown): boolean =>
    Array.isArray(list) && list.every((id) => Number.isInteger(id) || typeof id === 'string');
  return areTexts && KINDS.includes(kind) && areIds(ids) && areIds(before);
}
