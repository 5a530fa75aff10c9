/** Causes of a 409 on a create: another create under the key is in flight, or an earlier one had another body. */
export type ConflictReading = 'in-flight' | 'other-body' | 'unstated';

/** Maximum length of a message that is read, in UTF-16 units; real ones are a sentence. */
const READ_LIMIT = 1_000;

const IN_FLIGHT =
  /in[- ]?(?:flight|progress)|processing|being (?:processed|handled)|still (?:running|pending)|outstanding|concurrent|not (?:yet )?(?:finished|completed)/i;

const BODY = '(?:body|payload|param(?:eter)?s|content|data)';
const DIFFERENCE =
  "(?:different|another|other|changed|mismatch|differs?|(?:not|n't) match|not (?:identical|the same)|only\\b[^.]*\\bsame)";

/** A difference named beside a body; "another request" alone may be one in flight. */
const OTHER_BODY = new RegExp(`${DIFFERENCE}[^.]*\\b${BODY}|\\b${BODY}\\b[^.]*${DIFFERENCE}|different request`, 'i');

/**
 * Reads the cause of a 409 from its message. The specification names two causes ("Errors", 409) and shows no body of
 * either, so this is an assumption: a message that states both, or none, is `unstated`.
 */
export function readConflict(message: string): ConflictReading {
  const text = message.slice(0, READ_LIMIT);
  const isInFlight = IN_FLIGHT.test(text);
  if (isInFlight === OTHER_BODY.test(text)) return 'unstated';
  return isInFlight ? 'in-flight' : 'other-body';
}

/** Returns what a 409 on a create means for a caller who has passed the key. */
export function conflictAdvice(reading: ConflictReading, key: string): string {
  return reading === 'other-body'
    ? 'Nothing was created by this call: an earlier create used this key for another body. Look in the list for what it created before you use another key.'
    : `It may have been created: a create under this key may still be in flight. Repeat it with the idempotency key "${key}" and the same body. If it ends with a 409 again, the key probably belongs to another body: look in the list before you use another key.`;
}
