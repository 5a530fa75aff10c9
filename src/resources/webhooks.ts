import type { ApiPromise } from '../http/api-promise.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import { decodeList, type Shape } from '../schemas/decode.ts';
import type { WebhookEndpoint } from '../schemas/webhook-endpoint.ts';

const shape: Shape<WebhookEndpoint> = { schema: 'webhookEndpoint' };

/** Webhook endpoints; they are registered in the console, the API only lists them. */
export class Webhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The company's endpoints, newest first. Not paged. */
  list(options: RequestOptions = {}): ApiPromise<WebhookEndpoint[]> {
    return this.#transport.call('webhooks.list', { options, decode: decodeList(shape) });
  }
}
