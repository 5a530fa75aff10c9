import type { WaitTarget } from '../../index.ts';
import { usageError } from '../terminal/exit-codes.ts';
import { JOB_KINDS } from './resource-table.ts';

/** Parses the id of a resource, such as `12` or `audience:12`. */
export function parseId(text: string, kind?: string): number {
  const id = kind === undefined ? text : text.replace(new RegExp(`^${kind}:`), '');
  if (/^\d+$/.test(id) && Number(id) > 0 && Number.isSafeInteger(Number(id))) return Number(id);
  throw usageError(`An id must be an integer from 1 to ${Number.MAX_SAFE_INTEGER}, not "${text}".`);
}

/**
 * Parses a job such as `audience:12`. Without a kind, uses the kind `fallback`.
 *
 * @throws {CommandError} for another format.
 */
export function parseTarget(text: string, fallback: string): WaitTarget {
  const [, named = fallback, id = ''] = /^(?:([a-z]+):)?(.*)$/.exec(text) ?? [];
  const kind = JOB_KINDS.find((kind) => kind === named);
  if (kind && /^\d+$/.test(id)) return { kind, id: parseId(id) };
  const kinds = JOB_KINDS.join(', ');
  throw usageError(`A job must be an id, or a kind and an id such as audience:12, not "${text}". Kinds: ${kinds}.`);
}

/** Returns a job as text for messages and arguments: `audience:12`. */
export const labelOf = ({ kind, id }: WaitTarget): string => `${kind}:${id}`;
