import { createSandbox } from 'audience-activation/sandbox';
import { exerciseClient, exerciseErrors, exerciseFiles, exerciseWebhooks } from './exercise.ts';

/** A worker for an edge runtime that uploads a file, and then uses a sandbox in the same process. */
const worker = {
  async fetch(request: Request): Promise<Response> {
    try {
      // Uploads are sent in another way where Node's APIs exist, as in the runtime that this worker runs in.
      await exerciseFiles(await request.json());
      const sandbox = createSandbox({ jobs: { duration: 0 } });
      const token = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
      const service = { baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch };
      // Webhooks are signed by `node:crypto` there.
      await exerciseWebhooks(await exerciseClient(service));
      await exerciseErrors(service);
      await sandbox.close();
      return new Response('done');
    } catch (error) {
      return new Response(String(error instanceof Error ? error.stack : error), { status: 500 });
    }
  },
};

export { worker as default };
