import { exerciseClient, exerciseErrors, exerciseFiles, exerciseWebhooks } from './exercise.ts';

/** A worker for an edge runtime that uses the service whose address and token are in the request's body. */
const worker = {
  async fetch(request: Request): Promise<Response> {
    try {
      const { baseUrl, token } = await request.json();
      const audience = await exerciseClient({ baseUrl, token });
      await exerciseErrors({ baseUrl, token });
      await exerciseFiles({ baseUrl, token });
      await exerciseWebhooks(audience);
      return new Response('done');
    } catch (error) {
      return new Response(String(error instanceof Error ? error.stack : error), { status: 500 });
    }
  },
};

export { worker as default };
