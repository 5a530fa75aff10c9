import { http } from 'msw';
import { setupServer } from 'msw/node';
import { expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../src/index.ts';
import { createSandbox } from '../src/sandbox/index.ts';
import { quick } from './support/server.ts';

it('msw intercepts the client, with the sandbox behind it', async () => {
  const sandbox = createSandbox();
  const token = sandbox.accounts.create({ email: 'ada@example.com', password: 'x' }).token('api');
  await using client = new AudienceClient({ baseUrl: 'https://api.example.com', token, ...quick });
  const server = setupServer(http.all('https://api.example.com/*', ({ request }) => sandbox.fetch(request)));
  server.listen({ onUnhandledFrame: 'error' });
  onTestFinished(() => server.close());
  const { id } = await client.audiences.create({ name: 'Behind msw' });
  expect(await client.audiences.get(id)).toMatchObject({ name: 'Behind msw' });
});
