import { describe, expect, it } from 'vitest';
import { readConflict } from '../../../src/client/http/conflict.ts';

describe('the message of a 409', () => {
  it.each([
    'This idempotency key was used with a different body.',
    "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than 'abc' if you meant to execute a different request.",
    "The request body doesn't match the first one",
    'This key has been used before for another payload.',
    'Payload mismatch for idempotency key.',
    'The body of this request differs from the first request made with this key.',
  ])('names another body in %j', (message) => {
    expect(readConflict(message)).toBe('other-body');
  });

  it.each([
    '',
    'The key is locked by another request with the same parameters.',
    'A create with another body is still in flight.',
    'Idempotency key reuse with different parameters is not allowed.',
    'Der Idempotenzschlüssel wurde bereits mit einem anderen Inhalt verwendet.',
    'The payload of a previous request with this key has not been processed yet; different results are possible.',
    'The original request has not finished. Do not change the body.',
    'Try again later; do not reuse this key with a different body.',
    'This key is being used by another request. Use a different key for a different body.',
    'Your request is queued; a different payload would be rejected.',
    'Idempotency-Key already used.',
    `${'x'.repeat(1_000)} was used with a different body`,
    // of the specification: both causes in one sentence
    'Idempotency-Key reused with a different body, or duplicate of an in-flight create',
  ])('leaves the cause in doubt in %j', (message) => {
    expect(readConflict(message)).toBe('in-doubt');
  });
});
