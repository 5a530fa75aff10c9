import type { CreateOutcome } from '../errors/error-details.ts';
import { JournalError } from '../errors/journal-errors.ts';
import type { JournalEntry } from './journal-lines.ts';

/** Advice after a 409, which the journal treats as a request in flight. */
export const KEPT =
  'The journal treats the request as in flight: create the resource again with this journal, within 23 hours of the first attempt.';

/** Returns the error for a key that is bound to another body. */
export function bodyChanged(path: string, key: string, { id, at, kind, file }: JournalEntry): JournalError {
  if (id !== undefined) {
    const message = `"${key}" was created with another body and has the id ${id}. Each key is bound to one body.`;
    const advice =
      kind === 'cohorts' && !file
        ? 'If you only uploaded the same file again, use the cohort with that id. For another file, use another key. `journal.import` compares files instead of uploads.'
        : 'Use another key.';
    return keyError(path, 'body-changed', key, message, advice);
  }
  const message = `The outcome of the create request for "${key}" is unknown, and its body has changed.`;
  const advice = `Repeat the create request with the body that was sent at ${at?.toISOString()}. If the service refuses that body: ${byHand(key)}`;
  return keyError(path, 'body-changed', key, message, advice, 'unknown');
}

/** Returns the error for a key that is bound to another kind of resource. */
export function kindChanged(
  path: string,
  key: string,
  { id, kind: existing }: JournalEntry,
  kind: string,
): JournalError {
  const message = `"${key}" was ${id === undefined ? 'sent' : 'created'} with \`client.${existing}\`, not \`client.${kind}\`. Each key is bound to one resource.`;
  return keyError(path, 'body-changed', key, message, `Use another key, such as "${key} ${kind}".`);
}

/** Returns the error of a request whose idempotency key has expired or is about to expire. */
export function expired(path: string, key: string, at: Date): JournalError {
  const message = `"${key}" was sent at ${at.toISOString()}, and its response was lost. The idempotency key has expired or is about to expire (after 24 h), so the journal does not repeat the request.`;
  return keyError(path, 'outcome-expired', key, message, `To resolve the key by hand, ${byHand(key)}`, 'unknown');
}

/** Returns the error of a request that another account may have sent. */
export function otherToken(path: string, key: string, at: Date): JournalError {
  const message = `"${key}" was sent with another token at ${at.toISOString()}, and its response was lost. Both tokens might not belong to the same account.`;
  const advice = `Create the resource again with that token, within 23 hours of that time, or ${byHand(key)}`;
  return keyError(path, 'account-changed', key, message, advice, 'unknown');
}

/** Returns the advice for a refused repeated request. */
export function repeated(key: string, at: Date): string {
  return `"${key}" was also sent at ${at.toISOString()}, and that response was lost. Create the resource again with this journal, within 23 hours of that time. If the service always refuses the request: ${byHand(key)}`;
}

function keyError(
  path: string,
  code: JournalError['code'],
  key: string,
  message: string,
  advice: string,
  outcome?: CreateOutcome,
): JournalError {
  return new JournalError(message, { code, path, key, advice, ...(outcome && { outcome }) });
}

/** Returns the advice for resolving a key by hand. */
function byHand(key: string): string {
  const name = JSON.stringify(key);
  // The keys of activations in `aud run` contain a space, so they need quotes.
  const quote = /\s/.test(key) ? '"' : '';
  return `look for the resource in the list, by name and time. If you find it: \`journal.resolve(${name}, id)\`, or \`aud run\` with \`--resolve ${quote}${key}=<id>${quote}\`. If not: \`journal.forget(${name})\`, or \`--forget ${quote}${key}${quote}\`.`;
}
