/**
 * A browser app on the client: sign-in, a list with paging, audiences built with live progress, cohorts
 * uploaded with a bar. `npm run example:browser` starts all of it and prints where it is; Ctrl-C ends it.
 *
 * Flags, after `--`: `--port 8080` (5173 or the next free one unless given), `--speed 60` (of the sandbox's clock).
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
console.log('A build whose name holds "cannot be built" asks for more information. Ctrl-C ends all of it.');

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void app.close());
