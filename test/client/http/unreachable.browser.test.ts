import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ClientOptions, memoryTokenStore } from '../../../src/index.ts';
import { createOAuthClient } from '../../../src/oauth/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { bytesOf, startStorage, wireActivation } from '../../support/storage.ts';

/** Responses with this header are hidden from the page. */
const FOR_ANOTHER_ORIGIN = { 'access-control-allow-origin': 'https://other.example' };

/** A port on which nothing listens: ports of servers are below 61,000. */
const CLOSED = { url: 'http://127.0.0.1:65533' };

const once = { maxRetries: 0 } as const satisfies ClientOptions;

const CAUSES = 'the connection failed, or the service does not allow requests from this origin (CORS)';
const STORAGE_CAUSES = 'the connection failed, or storage does not allow requests from this origin (CORS)';

describe('a call without a response in a page', () => {
  it('names the causes when the port is closed', async () => {
    const error = await failureOf(clientOf(CLOSED, once).audiences.get(1));
    expect(error).toMatchObject({ name: 'ConnectionError', message: `audiences.get got no response: ${CAUSES}` });
  });

  it('names the causes when CORS refuses, and says that the outcome of a create is unknown', async () => {
    const server = await startServer([{ data: [{ id: 1 }], headers: FOR_ANOTHER_ORIGIN }]);
    const error = await failureOf(clientOf(server, once).audiences.create({ name: 'Visitors' }));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
    expect(String(error)).toContain(`audiences.create got no response: ${CAUSES}`);
    expect((await server.seen()).some(({ method }) => method === 'POST')).toBe(true);
  });

  it('says that the device is offline', async () => {
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    onTestFinished(() => void vi.restoreAllMocks());
    const error = await failureOf(clientOf(CLOSED, once).audiences.get(1));
    expect(String(error)).toBe('ConnectionError: audiences.get got no response: the device is offline');
  });

  it('does not speak of CORS once the response has begun', async () => {
    const server = await startServer([{ data: [], fault: 'cut-body' }]);
    const error = await failureOf(clientOf(server, once).audiences.get(1));
    // WebKit reports such a response as complete.
    expect(String(error)).toMatch(/lost the connection before a complete response arrived|not complete JSON/);
    expect(String(error)).not.toContain('CORS');
  });

  it('names the causes of OAuth requests', async () => {
    const redirectUri = `${location.origin}/callback`;
    const oauth = createOAuthClient({ baseUrl: CLOSED.url, redirectUri, store: memoryTokenStore(), ...once });
    expect(String(await failureOf(oauth.authorize()))).toContain(CAUSES);
  });
});

describe('a transfer without a response in a page', () => {
  it('an upload names the causes', async () => {
    const { client } = await startStorage([{ headers: FOR_ANOTHER_ORIGIN }], once);
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: new Blob(['abc']) }));
    expect(error).toMatchObject({ name: 'ConnectionError', slot: 'usable' });
    expect(String(error)).toContain(`uploads.send got no response from storage: ${STORAGE_CAUSES}`);
  });

  it('a download names the causes, and not once bytes have arrived', async () => {
    const storage = await startServer([
      { bytes: 9, headers: FOR_ANOTHER_ORIGIN },
      { bytes: 90_000, fault: 'cut-body' },
    ]);
    const api = await startServer([{ data: [wireActivation(`${storage.url}/devices.csv`)] }]);
    const client = clientOf(api, once);
    const download = async () => {
      for await (const { open } of client.activations.download(7)) await bytesOf(await open());
    };
    expect(String(await failureOf(download()))).toContain(`got no response from storage: ${STORAGE_CAUSES}`);
    const cut = String(await failureOf(download()));
    expect(cut).toContain('lost the connection to storage after');
    expect(cut).not.toContain('CORS');
  });
});
