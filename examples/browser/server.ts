/**
 * A browser app: sign-in, a list with paging, audiences built with live progress, cohorts uploaded with a progress bar.
 * `node examples/browser/server.ts` starts the app with its backend and a sandbox, and prints its address; Ctrl-C stops it.
 *
 * Flags, after `--`: `--port 8080` (default: 5173 or the next free one), `--speed 60` (of the sandbox's clock).
 */
import { parseArgs } from 'node:util';
import { startApp } from './server/app.ts';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '0' }, speed: { type: 'string', default: '40' } },
});
const app = await startApp({ port: Number(values.port), speed: Number(values.speed) });
console.log(`Open      ${app.url}`);
console.log(`Email     ${app.credentials.email}`);
console.log(`Password  ${app.credentials.password}`);
console.log('A build whose name contains "cannot be built" needs more information. Ctrl-C stops the app.');

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void app.close());
