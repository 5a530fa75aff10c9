import { createServer, type ServerOptions } from 'node:https';
import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { listenForTest } from '../../support/loopback.ts';
import { clientOf, failureOf } from '../../support/server.ts';

/** A certificate of this machine's loopback address, for tests only; valid until 2126. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUCgAwIBAgITSGCTyOCWf44Op4Ymn3oPqVv5eDAKBggqhkjOPQQDAjAU
MRIwEAYDVQQDDAlsb2NhbGhvc3QwIBcNMjYxMTI4MjIwODQ4WhgPMjEyNjExMDQy
MjA4NDhaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABAOz/t26GvlaXtAPWjRTEDjSoqsWhVUj3Md09rcvrKLOjyWYVF2V9x0M
5yIBpk5aaKJXNIp8le8tU3y+wtICwG6jbzBtMB0GA1UdDgQWBBRehz0sKuBmEIbq
TQQPlpJdn5/B6zAfBgNVHSMEGDAWgBRehz0sKuBmEIbqTQQPlpJdn5/B6zAPBgNV
HRMBAf8EBTADAQH/MBoGA1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAKBggqhkjO
PQQDAgNJADBGAiEAtLNrbDPgeKYnXilse36fvKvZo5YshH8i/p8Q5ENf4lECIQCa
DFnfTYYx6+RGC2ih+ipqNdutdqXW/Drar1z9d3FkRA==
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2tjqNrKQA57dFxpI
Ln4poqPzjTeDiLiOwQSVT1s62JehRANCAAQDs/7duhr5Wl7QD1o0UxA40qKrFoVV
I9zHdPa3L6yizo8lmFRdlfcdDOciAaZOWmiiVzSKfJXvLVN8vsLSAsBu
-----END PRIVATE KEY-----`;

/** Starts an HTTPS server that must not receive a request; returns its address. */
async function startServer(options: ServerOptions): Promise<string> {
  const server = createServer({ cert: CERTIFICATE, key: KEY, ...options }, (_request, response) => {
    response.end('It has received a request.');
  });
  return (await listenForTest(server)).replace('http:', 'https:');
}

const trusting = { ca: CERTIFICATE };
const needsCertificate = { requestCert: true, rejectUnauthorized: true, ca: CERTIFICATE };

it.each([
  { reason: 'the client does not trust the certificate', server: {}, connect: {}, outcome: 'not-sent' },
  {
    reason: 'the server and the client have no version of TLS in common',
    server: { maxVersion: 'TLSv1.2' },
    connect: { ...trusting, minVersion: 'TLSv1.3' },
    outcome: 'not-sent',
  },
  {
    reason: 'the server requires a certificate of the client, in TLS 1.2',
    server: { ...needsCertificate, maxVersion: 'TLSv1.2' },
    connect: trusting,
    outcome: 'not-sent',
  },
  {
    reason:
      'the server requires a certificate of the client, in TLS 1.3, whose alert arrives after the request has left',
    server: needsCertificate,
    connect: trusting,
    outcome: 'unknown',
  },
] as const)('a create request is $outcome if $reason', async ({ server, connect, outcome }) => {
  const dispatcher = new Agent({ connect });
  onTestFinished(() => dispatcher.close());
  const client = clientOf({ url: await startServer(server) }, { fetchOptions: { dispatcher } as never, maxRetries: 0 });
  const error = await failureOf(client.audiences.create({ name: 'Visitors' }));
  expect(error).toMatchObject({ code: 'connection-failed', outcome, attempts: 1 });
});
