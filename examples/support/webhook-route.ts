import { toNodeListener } from 'audience-activation/node';
import type { WebhookReceiver } from 'audience-activation/webhooks';
import type { FastifyPluginAsync } from 'fastify';

/** Returns a Fastify plugin that passes `POST /webhooks` to a receiver. */
export const webhookRoute =
  (receiver: WebhookReceiver): FastifyPluginAsync =>
  async (scope) => {
    // No parser may read the body before the receiver, because signatures cover its raw bytes.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null));
    scope.post('/webhooks', (request, reply) => {
      reply.hijack();
      toNodeListener(receiver)(request.raw, reply.raw);
    });
  };
