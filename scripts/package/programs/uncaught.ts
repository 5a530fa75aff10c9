import { AudienceClient } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';

/** Prints the error of a refused call, and ends by the error of another one, which nothing catches. */
const sandbox = createSandbox();
const token = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
const client = new AudienceClient({ baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch });

async function createRefused(): Promise<void> {
  await client.audiences.create({ name: 'Visitors', project_id: 999 });
}

await createRefused().catch((error: unknown) => console.log(error));
await createRefused();
