import { readFileSync } from 'node:fs';
import { type AudienceClient, AudienceError } from 'audience-activation';
import type { WebhookReceiver } from 'audience-activation/webhooks';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';

const page = readFileSync(new URL('./page.html', import.meta.url), 'utf8');

/** Returns the app: a page that starts builds, their progress as server-sent events, and the webhook that ends them. */
export function createApp(client: AudienceClient, receiver: WebhookReceiver): Hono {
  receiver.attach(client.waits);
  const app = new Hono();
  app.get('/', (context) => context.html(page));
  app.post('/webhooks', ({ req }) => receiver.handle(req.raw));

  app.post('/audiences', async (context) => {
    const { name, key } = await context.req.json<{ name: string; key: string }>();
    const { id } = await client.audiences.create({ name }, { idempotencyKey: key });
    return context.json({ id }, 202);
  });

  app.get('/audiences/:id/progress', (context) =>
    streamSSE(context, async (stream) => {
      // The wait ends when the reader leaves; the job continues.
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      const send = (event: string, data: object): Promise<void> =>
        stream.writeSSE({ event, data: JSON.stringify(data) });
      try {
        const audience = await client.audiences.wait(Number(context.req.param('id')), {
          signal: left.signal,
          onUpdate: ({ status }, { source }) => void send('status', { status: status.name, source }),
        });
        await send('end', { devices: audience.results_count });
      } catch (error) {
        if (AudienceError.isInstance(error)) await send('end', { error: error.message });
        else if (!left.signal.aborted) throw error;
      }
    }),
  );
  return app;
}
