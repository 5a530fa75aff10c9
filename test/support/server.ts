import { inject, onTestFinished } from 'vitest';
import { AudienceClient, type ClientOptions } from '../../src/index.ts';
import type { Script, Seen } from './script.ts';

/** A scripted server for one test that runs in Node or in a browser. */
export interface TestServer {
  readonly url: string;
  /** Requests so far, in order of arrival. */
  seen(): Promise<Seen[]>;
}

/** Starts a scripted HTTP server on loopback for the running test: in this process, or for a browser in that of the runner. */
export const startServer = (script: Script): Promise<TestServer> =>
  typeof document === 'undefined' ? startHere(script) : startInRunner(script);

async function startHere(script: Script): Promise<TestServer> {
  const { startScriptedServer } = await import('./scripted-server.ts');
  const { url, seen, close } = await startScriptedServer(script);
  onTestFinished(close);
  return { url, seen: async () => [...seen] };
}

async function startInRunner(script: Script): Promise<TestServer> {
  const control = inject('controlUrl');
  const started = await fetch(control, { method: 'POST', body: JSON.stringify(script) });
  const { id, url } = await started.json();
  onTestFinished(async () => {
    await fetch(`${control}/${id}`, { method: 'DELETE' });
  });
  return { url, seen: async () => (await fetch(`${control}/${id}`)).json() };
}

/** Options that make tests quick and quiet. */
export const quick = { backoff: { min: 1, max: 5 }, logLevel: 'off' } as const satisfies ClientOptions;

/** Creates a client of a scripted server, which is closed after the running test. */
export function clientOf(server: { readonly url: string }, options: ClientOptions = {}): AudienceClient {
  const token = options.credentials === undefined ? { token: 'test-token' } : {};
  const client = new AudienceClient({ baseUrl: server.url, ...token, ...quick, ...options });
  onTestFinished(() => client.close());
  return client;
}

/** Returns the reason with which a promise rejects; throws if it resolves. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was expected to fail.');
}
