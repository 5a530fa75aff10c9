import { createSandbox } from 'audience-activation/sandbox';
import { exerciseClient, exerciseErrors, exerciseFiles, exerciseOutage, exerciseWebhooks } from './exercise.ts';

/** Program for Bun and Deno: uses a service over HTTP, then a sandbox in the same process. */
const [baseUrl = '', token = ''] = process.argv.slice(2);
const audience = await exerciseClient({ baseUrl, token });
await exerciseErrors({ baseUrl, token });
await exerciseFiles({ baseUrl, token });
await exerciseOutage(token);
await exerciseWebhooks(audience);
const sandbox = createSandbox({ jobs: { duration: 0 } });
const own = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
await exerciseClient({ baseUrl: 'https://api.example.com', token: own, fetch: sandbox.fetch });
await sandbox.close();
console.log('done');
