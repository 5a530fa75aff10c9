import { describe, expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';
import { verifyWebhook } from '../../src/webhooks/index.ts';
import { REDIRECT } from '../support/oauth.ts';
import { clientOf, failureOf } from '../support/server.ts';
import { wireActivation } from '../support/storage.ts';
import { cpuTime } from './support/cpu-time.ts';

/** Milliseconds of processor time; work that grows faster than its input takes seconds. */
const LIMIT_MS = 500;

describe('a client handles in linear time', () => {
  it.each([
    ['backslashes', `${'%5C'.repeat(24)}Z`, `${'\\'.repeat(47)}Y`],
    ['slashes', `${'/'.repeat(1_500)}B`, '/'.repeat(65_536)],
    ['percent signs', `${'%25'.repeat(20_000)}B`, '%25'.repeat(20_000)],
    ['entities', `${'%26amp%3B'.repeat(5_000)}B`, '&amp;'.repeat(10_000)],
    ['equal letters', 'a'.repeat(60_000), `${'a'.repeat(15)}b`.repeat(4_000)],
  ])('a refusal by storage that repeats a query of %s', async (_, query, text) => {
    const body = `<Error><Code>${text.slice(0, 900)}</Code><Message>${text.slice(0, 900)}</Message>${text}`;
    for (const answer of [text, body]) {
      const fetch = async (): Promise<Response> => new Response(answer, { status: 403, headers: { server: 'x' } });
      const client = clientOf({ url: 'http://localhost' }, { fetch });
      const slot = { reference: 'r', url: `https://storage.example/slot?sig=${query}`, expires_at: '' };
      const ms = await cpuTime(async () => {
        expect(await failureOf(client.uploads.send(slot, new Uint8Array(1)))).toMatchObject({ status: 403 });
      });
      expect(ms).toBeLessThan(LIMIT_MS);
    }
  });

  it('results whose datastreams have equal names', async () => {
    const row = wireActivation('https://storage.example/f.csv');
    const stream = { name: 'Same', status: 'Delivered', results: { uri: 'https://storage.example/f.csv' } };
    const data = { ...row, datastreams: Array.from({ length: 8_000 }, () => stream) };
    const fetch = async (): Promise<Response> => Response.json({ status: 'success', code: 200, message: '', data });
    const client = clientOf({ url: 'http://localhost' }, { fetch });
    const names = new Set<string>();
    const ms = await cpuTime(async () => {
      for await (const { fileName } of client.activations.download(7)) names.add(fileName);
    });
    expect([names.size, [...names].at(-1)]).toEqual([8_000, 'Same-8000.csv']);
    expect(ms).toBeLessThan(2_000);
  });

  it('a description of a resource whose address has 200,000 slashes, and shows a part of it', async () => {
    const baseUrl = 'https://api.example.com';
    const resource = `${baseUrl}${'/'.repeat(200_000)}x?token=canary`;
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> =>
      init?.method === 'POST' ? new Response(null, { status: 401 }) : Response.json({ resource });
    const oauth = createOAuthClient({ baseUrl, redirectUri: REDIRECT, store: memoryTokenStore(), fetch });
    const ms = await cpuTime(async () => {
      const error = await failureOf(oauth.authorize());
      expect(error).toMatchObject({ error: 'invalid_target' });
      expect(String(error).length).toBeLessThan(1_000);
    });
    expect(ms).toBeLessThan(LIMIT_MS);
  });

  it('400 webhooks whose signature header holds 4,080 spaces', async () => {
    const header = `t=${' '.repeat(4_080)}x`;
    const ms = await cpuTime(async () => {
      for (let at = 0; at < 400; at++) {
        expect(await failureOf(verifyWebhook('{}', header, 'whsec_x'))).toMatchObject({ reason: 'malformed-header' });
      }
    });
    expect(ms).toBeLessThan(LIMIT_MS);
  });
});
