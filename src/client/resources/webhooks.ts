import type { ApiPromise, RequestOptions, Transport } from '../http/index.ts';
import { decodeList } from '../schemas/decode.ts';
import { type WebhookEndpoint, webhookEndpointResource } from '../schemas/webhook-endpoint.ts';

/** Webhook endpoints; they are registered in the console, the API only lists them. */
export class Webhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the organization's endpoints, newest first. Not paged. */
  list(options?: RequestOptions): ApiPromise<WebhookEndpoint[]> {
    return this.#transport.call('webhooks.list', { options, decode: decodeList(webhookEndpointResource) });
  }
}
