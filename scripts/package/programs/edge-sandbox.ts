import { createSandbox } from 'audience-activation/sandbox';
import { exerciseClient, exerciseErrors, exerciseFiles } from './exercise.ts';

/** A worker on the edge that sends a file, and runs the sandbox in process, as its tests would. */
const worker = {
  async fetch(request: Request): Promise<Response> {
    try {
      // With Node's APIs, files are sent in another way.
      await exerciseFiles(await request.json());
      const sandbox = createSandbox({ jobs: { duration: 0 } });
      const token = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
      const service = { baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch };
      await exerciseClient(service);
      await exerciseErrors(service);
      await sandbox.close();
      return new Response('done');
    } catch (error) {
      return new Response(String(error instanceof Error ? error.stack : error), { status: 500 });
    }
  },
};

export { worker as default };
