import { exerciseClient, exerciseErrors, exerciseFiles, exerciseWebhooks } from './exercise.ts';

/** A worker on the edge: asked with a service's address and token, it uses that service. */
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
