import { exerciseClient, exerciseWebhooks } from './exercise.ts';

/** A module worker that uses the service over HTTP. */
addEventListener('message', async ({ data: { baseUrl, token } }: MessageEvent) => {
  try {
    await exerciseWebhooks(await exerciseClient({ baseUrl, token }));
    postMessage('done');
  } catch (error) {
    postMessage(String(error));
  }
});
