import type { AudienceClient, ClientOptions, UploadReservation } from '../../src/index.ts';
import type { Step } from './script.ts';
import { clientOf, startServer, type TestServer } from './server.ts';

/** A signature that must not appear in any error or log line. */
export const SIGNATURE = 'presigned-canary-0123456789';

/** True if the tests run in a browser. */
export const inBrowser = typeof XMLHttpRequest === 'function';

/** A service and its storage, which has another origin. */
export interface StorageBench {
  readonly api: TestServer;
  readonly storage: TestServer;
  readonly client: AudienceClient;
  /** The reservation that the service returns. */
  readonly reservation: UploadReservation;
}

/** Starts storage that responds by a script, and a service that returns a reservation for it. */
export async function startStorage(steps: readonly Step[], options: ClientOptions = {}): Promise<StorageBench> {
  const storage = await startServer(steps);
  const reservation = {
    reference: 'upl_1',
    url: `${storage.url}/slots/1?X-Date=20261121&X-Signature=${SIGNATURE}`,
    expires_at: '2026-11-21T12:15:00+00:00',
  };
  const api = await startServer([{ data: reservation }]);
  return { api, storage, reservation, client: clientOf(api, { token: 'canary-token', ...options }) };
}

/** An activation as the service sends it, with results in storage. */
export function wireActivation(uri: string, status = { id: 104, name: 'Completed' }): Record<string, unknown> {
  return {
    id: 7,
    description: 'Delivery',
    status,
    audience: { id: 42, name: 'Visitors' },
    created_by: { name: 'Ada', email: 'ada@example.com' },
    project: null,
    partner: { name: 'Partner', description: '' },
    pricing_model: {},
    datastreams: [{ name: 'devices', status: 'Delivered', results: { uri } }],
    filters: { freq_limit: false, freq_min: null, freq_max: null },
    filter_hash: null,
    created_at: '2026-11-20 10:00:00',
    updated_at: '2026-11-20 10:10:00',
  };
}

/** Returns the bytes of a stream; rejects with the stream's error. */
export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  await stream.pipeTo(new WritableStream({ write: (chunk) => void chunks.push(new Uint8Array(chunk)) }));
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
