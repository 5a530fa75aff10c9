import { type Dispatcher, EnvHttpProxyAgent, ProxyAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FetchOptions } from '../../../src/index.ts';
import { clientOf, failureOf } from '../../support/server.ts';
import { startStorage } from '../../support/storage.ts';
import { startRefusingProxy } from './refusing-proxy.ts';

const through = (dispatcher: Dispatcher): { readonly fetchOptions: FetchOptions } => {
  onTestFinished(() => dispatcher.destroy());
  // The types of Node have those of another version of undici.
  return { fetchOptions: { dispatcher } as unknown as FetchOptions };
};

describe('a proxy that refuses the tunnel', () => {
  it.each<[string, (proxy: string) => Dispatcher]>([
    ['ProxyAgent', (proxy) => new ProxyAgent(proxy)],
    ['EnvHttpProxyAgent', (httpsProxy) => new EnvHttpProxyAgent({ httpsProxy, noProxy: '' })],
  ])('is named in the error, and nothing was sent: %s', async (_, dispatcherOf) => {
    const options = through(dispatcherOf(await startRefusingProxy()));
    const client = clientOf({ url: 'https://api.example.com' }, { ...options, maxRetries: 0 });
    const error = await failureOf(client.audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'not-sent' });
    expect(String(error)).toBe(
      'ConnectionError: audiences.create could not reach the service: Proxy response (407) !== 200 when HTTP Tunneling. The proxy refused the connection: check its credentials and its rules. Nothing reached the service, so a retry is safe.',
    );
  });

  it('names itself in the error of an upload', async () => {
    const options = through(new ProxyAgent(await startRefusingProxy()));
    const { client } = await startStorage([{}]);
    const reserved = await client.uploads.reserve({ kind: 'cohort', size: 1 });
    const proxied = client.withOptions({ ...options, maxRetries: 0 });
    const error = await failureOf(proxied.uploads.send(reserved, new Blob(['x'])));
    expect(String(error)).toContain('could not reach storage: Proxy response (407)');
  });
});
