import { runProgram } from './programs.ts';

/** `npm run example -- NAME` runs an example with the built package. */
await runProgram('example', {
  'await-audience': { path: 'examples/await-audience.ts', about: 'a build, a wait, and a build that fails' },
  'await-many': { path: 'examples/await-many.ts', about: 'twenty waits, Ctrl-C and resuming' },
  browser: { path: 'examples/browser/server.ts', about: 'a page whose backend hands out tokens' },
  'fastify-shutdown': {
    path: 'examples/fastify-shutdown.ts',
    about: 'a backend that ends on SIGTERM, and logs with pino',
  },
  fleet: { path: 'examples/fleet.ts', about: 'processes that share a token and its limits' },
  'hono-progress': { path: 'examples/hono-progress/run.ts', about: 'a page with live progress that ends by a webhook' },
  'import-cohort': { path: 'examples/import-cohort.ts', about: 'a file in: upload, claim, wait' },
  'lookalike-to-activation': { path: 'examples/lookalike-to-activation.ts', about: 'a lookalike, and its results' },
  'mcp-agent': { path: 'examples/mcp-agent.ts', about: 'an agent that uses the MCP endpoint' },
  nest: { path: 'examples/nest/run.ts', about: 'the client as a provider of Nest' },
  'next-route': { path: 'examples/next-route/run.ts', about: 'route handlers, as in Next' },
  'pg-boss-worker': { path: 'examples/pg-boss-worker.ts', about: 'workers of a queue in PostgreSQL' },
  'queue-worker': { path: 'examples/queue-worker.ts', about: 'workers of a queue in Redis' },
  telemetry: { path: 'examples/telemetry.ts', about: 'traces of OpenTelemetry' },
  'webhook-server': { path: 'examples/webhook-server.ts', about: 'a server that receives events' },
  worker: { path: 'examples/worker/run.ts', about: 'a worker of Cloudflare’s runtime' },
});
