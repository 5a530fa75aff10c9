import { describe, expect, it } from 'vitest';
import { readConflict } from '../../../src/client/http/conflict.ts';

describe('the message of a 409', () => {
  it.each([
    'This idempotency key was used with a different body.',
    "Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than 'abc' if you meant to execute a different request.",
    'The payload does not match the original one.',
    "The request body doesn't match the first one",
    'The idempotency key was already used with a different request body.',
    'Keys for idempotent requests can only be used with the same parameters they were first used with.',
    'This key has been used before for another payload.',
    'Request body does not match the one originally sent with this idempotency key.',
    'Payload mismatch for idempotency key.',
    'The body of this request differs from the first request made with this key.',
  ])('names another body in %j', (message) => {
    expect(readConflict(message)).toBe('other-body');
  });

  it.each([
    '',
    'Conflict',
    'The key is locked by another request with the same parameters.',
    'A create with another body is still in flight.',
    'Idempotency key reuse with different parameters is not allowed.',
    'Der Idempotenzschlüssel wurde bereits mit einem anderen Inhalt verwendet.',
    'Der Schlüssel gehört zu einer Anfrage mit anderem Body.',
    "Cette clé d'idempotence a déjà été utilisée avec un contenu différent.",
    'La clave de idempotencia ya se usó con un cuerpo distinto.',
    'La chiave di idempotenza è già stata usata con un corpo diverso.',
    'A request with this idempotency key is still in progress.',
    'A different request with this key is currently being processed.',
    'Another request with the same idempotency key and body is in flight.',
    'This body is already being processed by a different worker.',
    'Request with same parameters already being executed.',
    'The payload of a previous request with this key has not been processed yet; different results are possible.',
    'Conflict: key locked by another request body upload.',
    'Concurrent request detected. Please retry.',
    'The original request has not finished. Do not change the body.',
    'Try again later; do not reuse this key with a different body.',
    'This key is being used by another request. Use a different key for a different body.',
    'Your request is queued; a different payload would be rejected.',
    'Eine andere Anfrage mit diesem Schlüssel wird noch bearbeitet.',
    'Die Anfrage mit diesem Schlüssel läuft noch; der Inhalt darf nicht anders sein.',
    'Une autre requête avec cette clé est en cours de traitement.',
    "La requête précédente n'est pas terminée; ne changez pas le corps, un contenu différent sera refusé.",
    'Otra solicitud con esta clave está en curso.',
    'La solicitud original con un cuerpo distinto aún se está procesando.',
    "Un'altra richiesta con questa chiave è in corso.",
    'La richiesta con un corpo diverso è ancora in elaborazione.',
    'Idempotency conflict.',
    'Idempotency-Key already used.',
    'Duplicate request.',
    'An audience with this name already exists.',
    'The resource was modified by a different request.',
    'Konflikt',
    'Clé déjà utilisée.',
    `${'x'.repeat(1_000)} was used with a different body`,
    // of the specification: both causes in one sentence
    'Idempotency-Key reused with a different body, or duplicate of an in-flight create',
  ])('leaves the cause in doubt in %j', (message) => {
    expect(readConflict(message)).toBe('in-doubt');
  });
});
