import { describe, expect, it } from 'vitest';
import { readConflict } from '../../../src/client/http/conflict.ts';

describe('the cause of a 409', () => {
  it.each([
    // of the sandbox
    'A request with this idempotency key is still in flight.',
    // Stripe
    'There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still being processed): abc.',
    // draft-ietf-httpapi-idempotency-key-header
    'A request with the same Idempotency-Key for the same operation is being processed or is outstanding.',
    'Your request is still being processed.',
    'The first create is not yet finished',
    'Request in progress',
    'CONCURRENT_REQUEST',
  ])('is read as a create in flight from %j', (message) => {
    expect(readConflict(message)).toBe('in-flight');
  });

  it.each([
    'This idempotency key was used with a different body.',
    "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than 'abc' if you meant to execute a different request.",
    'The payload does not match the original one.',
    "The request body doesn't match the first one",
    'Idempotency-Key already used for a different request',
    'key reused with other parameters',
  ])('is read as another body from %j', (message) => {
    expect(readConflict(message)).toBe('other-body');
  });

  it.each([
    '',
    'Conflict',
    'The key is already in use by another request.',
    'Cette clé est déjà utilisée avec un autre corps.',
    'この冪等キーは使用中です',
    // of the specification: both causes in one sentence
    'Idempotency-Key reused with a different body, or duplicate of an in-flight create',
    'A create with another body is still in flight.',
    `${'x'.repeat(1_000)} is still in flight`,
  ])('is unstated after %j', (message) => {
    expect(readConflict(message)).toBe('unstated');
  });
});
