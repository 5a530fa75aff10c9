/**
 * A Nest application that injects the client, and ends on SIGTERM although requests wait for jobs.
 * `node examples/nest/run.ts` starts it; Ctrl-C or SIGTERM stops it.
 *
 * Runs against a sandbox in another process, or against the service of AUDIENCE_BASE_URL and AUDIENCE_TOKEN. Copy
 * `audience-module.ts` into your application; `app-module.ts` and `main.ts` show how it is used.
 */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { AudienceClient } from 'audience-activation';
import { transformSync } from 'esbuild';
import { startSandbox } from '../support/sandbox.ts';

const folder = new URL('.', import.meta.url).href;
/** Compiles decorators, as `nest build` does: Node only removes types. */
registerHooks({
  load(url, context, next) {
    if (!url.startsWith(folder)) return next(url, context);
    const { code } = transformSync(readFileSync(new URL(url), 'utf8'), {
      loader: 'ts',
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

if (!process.env.AUDIENCE_BASE_URL) {
  const { url, credentials } = await startSandbox({ speed: 10 });
  const client = new AudienceClient({ baseUrl: url, credentials });
  const { token } = await client.auth.createApiToken(credentials);
  await client.close();
  Object.assign(process.env, { AUDIENCE_BASE_URL: url, AUDIENCE_TOKEN: token });
}
await import('./main.ts');
