import type { WebhookEndpoint } from '../../spec/webhook-endpoint.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { ApiPromise, Transport } from '../http/transport.ts';
import { decodeList } from '../schemas/decode.ts';
import { webhookEndpointResource } from '../schemas/webhook-endpoint-schema.ts';

/** Webhook endpoints. Users register endpoints in the console; the API only lists them. */
export class Webhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists all endpoints of the organization, newest first, without paging. */
  list(options?: RequestOptions): ApiPromise<WebhookEndpoint[]> {
    return this.#transport.call('webhooks.list', { options, decode: decodeList(webhookEndpointResource) });
  }
}
