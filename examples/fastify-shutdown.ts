/**
 * A Fastify backend that ends on SIGTERM although requests wait for jobs, and that logs with pino.
 * `node examples/fastify-shutdown.ts` starts it; Ctrl-C or SIGTERM stops it.
 *
 * Runs against a sandbox in another process, or against the service of AUDIENCE_BASE_URL and AUDIENCE_TOKEN.
 */
import { AudienceClient, AudienceError, apiToken, memoryTokenStore } from 'audience-activation';
import fastify from 'fastify';
import { startSandbox } from './support/sandbox.ts';

const sandbox = process.env.AUDIENCE_BASE_URL ? undefined : await startSandbox({ speed: 10 });
const server = fastify({ logger: true });
const { log } = server;
const client = new AudienceClient({
  ...(sandbox && { baseUrl: sandbox.url, token: apiToken(sandbox.credentials, { store: memoryTokenStore() }) }),
  // The client passes the message first, and pino takes the fields first.
  logger: {
    error: (message, fields) => log.error(fields, message),
    warn: (message, fields) => log.warn(fields, message),
    info: (message, fields) => log.info(fields, message),
    debug: (message, fields) => log.debug(fields, message),
  },
});

server.post<{ Body: { name: string } }>(
  '/audiences',
  { schema: { body: { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } } } },
  ({ body }) => client.audiences.createAndWait({ name: body.name }),
);

server.setErrorHandler((error, _request, reply) => {
  if (!AudienceError.isInstance(error)) return reply.send(error);
  const { code, created } = error;
  // The job of a created audience continues: whoever has its kind and id can wait for it again.
  const resource = created && { kind: created.kind, id: created.id };
  return reply.code(code === 'client-closed' ? 503 : 502).send({ code, created: resource });
});

// Fastify calls `onClose` after the last request has ended, which may take as long as a job.
server.addHook('preClose', () => client.close());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close());
server.addHook('onClose', () => sandbox?.stop());

await server.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' });
