import { describe, expect, it } from 'vitest';
import { isNotSent, reasonOf } from '../../src/util/fetch-errors.ts';

const failed = (message: string, details: object = {}): Error => Object.assign(new Error(message), details);

describe('a failed `fetch`', () => {
  it.each([
    ['a refused connection', failed('connect ECONNREFUSED', { syscall: 'connect' })],
    ['no such name', new TypeError('fetch failed', { cause: failed('ENOTFOUND', { syscall: 'getaddrinfo' }) })],
    ['several addresses, none of which answers', new AggregateError([failed('x', { syscall: 'connect' })])],
    ['a connection that takes too long', failed('x', { code: 'UND_ERR_CONNECT_TIMEOUT' })],
    ['a dispatcher of another undici', failed('invalid onRequestStart method', { code: 'UND_ERR_INVALID_ARG' })],
    ['an untrusted certificate', failed('x', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })],
    ['no TLS at all', failed('x', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' })],
    ['no TLS in common', failed('x', { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' })],
    ['no cipher in common', failed('x', { code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE' })],
    ['a name that the server does not know', failed('x', { code: 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME' })],
    ['no protocol in common', failed('x', { code: 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL' })],
    ['a refused connection in Bun', failed('x', { code: 'ECONNREFUSED' })],
    ['a refused connection in an earlier Bun', failed('x', { code: 'ConnectionRefused' })],
    [
      'a refused connection in Deno',
      new TypeError('error sending request for url (http://127.0.0.1:9/): client error (Connect): tcp connect error'),
    ],
    ['a port that `fetch` refuses', new TypeError('fetch failed', { cause: new Error('bad port') })],
  ])('surely sent nothing: %s', (_, error) => {
    expect(isNotSent(error)).toBe(true);
  });

  it.each([
    ['a reset', failed('read ECONNRESET', { syscall: 'read', code: 'ECONNRESET' })],
    ['no certificate of the client', failed('x', { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' })],
    ['a broken TLS record', failed('x', { code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' })],
    ['a browser, which reports no cause', new TypeError('Failed to fetch')],
    [
      'several addresses, one of which may have answered',
      new AggregateError([failed('x', { syscall: 'connect' }), failed('y')]),
    ],
    ['a value that is not an error', 'connect'],
  ])('may have sent something: %s', (_, error) => {
    expect(isNotSent(error)).toBe(false);
  });

  it('says that `fetch` blocks the port', async () => {
    const error: Error = await fetch('http://127.0.0.1:6000').catch((reason) => reason);
    expect(reasonOf(error)).toBe('`fetch` refuses to connect to this port ("bad port"). Use another port');
  });
});
