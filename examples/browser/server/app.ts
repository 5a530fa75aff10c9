import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Credentials } from 'audience-activation';
import { build, type Plugin, preview } from 'vite';
import { createBackend } from './backend.ts';
import { startService } from './service.ts';

/** A running app. */
export interface RunningApp {
  readonly url: string;
  readonly credentials: Credentials;
  close(): Promise<void>;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** Starts the service, builds the page, and serves it together with its backend. */
export async function startApp({
  port,
  speed,
}: {
  readonly port: number;
  readonly speed: number;
}): Promise<RunningApp> {
  const service = await startService(speed);
  const outDir = await mkdtemp(join(tmpdir(), 'browser-example-'));
  const shared = { root, configFile: join(root, 'vite.config.ts'), logLevel: 'warn' } as const;
  await build({ ...shared, build: { outDir, emptyOutDir: true } });
  const server = await preview({
    ...shared,
    build: { outDir },
    plugins: [backendPlugin(service.url)],
    // Vite treats port 0 as not set, so pass its default port instead.
    preview: { host: '127.0.0.1', port: port || 5173, strictPort: port > 0, headers: headersFor(service.storageUrl) },
  });
  return {
    url: server.resolvedUrls?.local[0] ?? '',
    credentials: service.credentials,
    async close() {
      await Promise.all([server.close(), service.close(), rm(outDir, { recursive: true })]);
    },
  };
}

/** Serves the backend on the origin of the page. */
function backendPlugin(serviceUrl: string): Plugin {
  return {
    name: 'backend',
    configurePreviewServer: ({ middlewares }) => void middlewares.use(createBackend(serviceUrl)),
  };
}

/** Returns headers with which the page can connect only to its own origin and, for uploads, to storage. */
function headersFor(storageUrl: string): Record<string, string> {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': `'self' ${storageUrl}`,
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  };
  const directives = Object.entries(policy).map(([name, value]) => `${name} ${value}`);
  return { 'content-security-policy': directives.join('; '), 'x-content-type-options': 'nosniff' };
}
