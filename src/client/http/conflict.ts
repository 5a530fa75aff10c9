/**
 * Meaning of the message of a 409: the key certainly belongs to another body, or a request with the key may be in
 * flight.
 */
export type ConflictReading = 'other-body' | 'in-doubt';

/** Maximum length of a message to read, in UTF-16 code units. Real messages are one sentence. */
const READ_LIMIT = 1_000;

const BODY = '(?:request )?(?:body|payload|param(?:eter)?s|content)';

/** Matches a statement that the key belongs to another body: in the past tense, or as a comparison of two bodies. */
const OTHER_BODY = new RegExp(
  [
    `\\b(?:re)?used\\b[^.]*\\b(?:with|for) (?:an?|some)? ?(?:different|other|another) ${BODY}\\b`,
    `\\bonly be used with the same ${BODY}\\b`,
    `\\b${BODY} (?:does not|doesn't|did not|do not) match\\b`,
    `\\b${BODY} mismatch\\b`,
    `\\b${BODY}\\b[^.]* (?:differs?|is different) from\\b`,
  ].join('|'),
  'i',
);

/**
 * Matches words about an unfinished request, and instructions. A message with such a word may mean a create request in
 * flight.
 */
const DOUBT =
  /flight|progress|process|pending|running|executing|queue|finish|complet|concurren|lock|outstanding|busy|wait|later|again|retry|yet|still|current|now\b|being|will|would|must|should|(?:do|does|did) not (?!match)|don't|never|unless|parallel|simultan|ongoing|handl|hold|active|open/i;

/**
 * Reads the message of a 409. The specification names two causes ("Errors", 409) and shows no messages. A message is
 * `in-doubt` unless it says that the key belongs to another body and contains no word that could mean a request in
 * flight.
 */
export function readConflict(message: string): ConflictReading {
  const text = message.slice(0, READ_LIMIT);
  return OTHER_BODY.test(text) && !DOUBT.test(text) ? 'other-body' : 'in-doubt';
}

/** Returns advice about a 409 for a caller who has passed the key. */
export function conflictAdvice(reading: ConflictReading, key: string): string {
  return reading === 'other-body'
    ? 'This call created nothing: an earlier request used this key with another body. Before you use another key, check the list for the resource that the earlier request created.'
    : `The resource may have been created: an earlier request with this key may still be in flight. Repeat the request with the idempotency key "${key}" and the same body. If the repeated request also gets a 409, the key probably belongs to another body: check the list before you use another key.`;
}
