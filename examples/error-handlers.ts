/**
 * Error handlers for Express 5, Fastify 5, and h3, the server of Nuxt: `npm run example -- error-handlers` sends each a
 * request while the service refuses the token of the client.
 *
 * Without a handler, these frameworks use `error.status`, the service's response to your server, as your response to the
 * visitor: a refused token of yours would answer 401, with advice that is meant for you.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AudienceClient, AudienceError, NotFoundError, RateLimitError } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';
import express, { type ErrorRequestHandler } from 'express';
import fastify from 'fastify';
import { createApp, createRouter, eventHandler, type H3Event, toNodeListener } from 'h3';

const service = await createSandbox().listen();
const client = new AudienceClient({ baseUrl: service.url, token: 'a-token-that-was-revoked', logLevel: 'off' });

/** Returns the response to the visitor. Log the error itself: its message and its advice are for you. */
function responseOf(error: AudienceError) {
  const { code, outcome, idempotencyKey } = error;
  const status = NotFoundError.isInstance(error) ? 404 : RateLimitError.isInstance(error) ? 503 : 502;
  return { status, body: { code, outcome, idempotencyKey } };
}

// Express: after all routes.
const handleError: ErrorRequestHandler = (error, _request, response, next) => {
  if (!AudienceError.isInstance(error)) return next(error);
  const { status, body } = responseOf(error);
  response.status(status).json(body);
};
const app = express();
app.get('/audiences/:id', async ({ params }, response) => {
  response.json(await client.audiences.get(Number(params.id)));
});
app.use(handleError);
const expressServer = app.listen(0, '127.0.0.1');

const server = fastify();
server.get<{ Params: { id: string } }>('/audiences/:id', ({ params }) => client.audiences.get(Number(params.id)));
server.setErrorHandler((error, _request, reply) => {
  if (!AudienceError.isInstance(error)) return reply.send(error);
  const { status, body } = responseOf(error);
  return reply.code(status).send(body);
});
await server.listen({ port: 0, host: '127.0.0.1' });

// h3 and Nuxt: around the handler of each route that uses the client.
const handler = (work: (event: H3Event) => Promise<unknown>) =>
  eventHandler(async (event) => {
    try {
      return await work(event);
    } catch (error) {
      if (!AudienceError.isInstance(error)) throw error;
      const { status, body } = responseOf(error);
      event.node.res.statusCode = status;
      return body;
    }
  });
const router = createRouter().get(
  '/audiences/:id',
  handler(({ context }) => client.audiences.get(Number(context.params?.id))),
);
const h3Server = createServer(toNodeListener(createApp().use(router))).listen(0, '127.0.0.1');

const servers = { Express: expressServer, Fastify: server.server, h3: h3Server };
for (const [name, each] of Object.entries(servers)) {
  const { port } = each.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/audiences/42`);
  console.log(`${name}: ${response.status} ${await response.text()}`);
}

await client.close();
await server.close();
expressServer.close();
h3Server.close();
await service.close();
