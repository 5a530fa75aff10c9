import { expect, it } from 'vitest';
import { clientOf, failureOf } from '../../support/server.ts';
import { settlesNow } from '../../support/settles-now.ts';

const slot = { reference: 'r', url: 'https://storage.example/slot', expires_at: '' };

it('a client that is closed during uploads resolves `close()` once all of them have ended, and not before', async () => {
  const isSent: (() => void)[] = [];
  const ends: string[] = [];
  const client = clientOf(
    { url: 'http://localhost' },
    {
      fetch: async (_, { body } = {}) => {
        await new Response(body).arrayBuffer();
        const stalled = isSent.shift();
        stalled?.();
        return stalled ? new Promise<never>(() => {}) : new Response();
      },
      onEnd: ({ outcome }) => ends.push(outcome),
    },
  );
  const send = () => client.uploads.send(slot, new Uint8Array(1));
  await send();
  const uploads = [1, 2].map(async () => {
    const sent = Promise.withResolvers<void>();
    isSent.push(sent.resolve);
    const failure = failureOf(send());
    await sent.promise;
    return { failure };
  });
  const stalled = await Promise.all(uploads);
  const closing = client.close().then(() => [...ends]);
  await Promise.all(stalled.map(({ failure }) => failure));
  expect(await settlesNow(closing)).toBe(true);
  expect(await closing).toEqual(['success', 'failure', 'failure']);
});

it('a client that is closed after an upload resolves `close()` immediately', async () => {
  const fetch = async (_: unknown, { body }: RequestInit = {}): Promise<Response> => {
    await new Response(body).arrayBuffer();
    return new Response();
  };
  const client = clientOf({ url: 'http://localhost' }, { fetch });
  await client.uploads.send(slot, new Uint8Array(1));
  expect(await settlesNow(client.close())).toBe(true);
});
