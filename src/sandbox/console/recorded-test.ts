import { expression, literal } from '../admin/call-source.ts';
import type { SandboxOptions } from '../sandbox-options.ts';
import type { RecordedRequest, Recording, Step } from './recorder.ts';
import { fetchOptions } from './snippets.ts';

/** Options that follow from a recording, or have no effect on responses. */
const LEFT_OUT: readonly string[] = [
  'seed',
  'start',
  'clock',
  'state',
  'onRequest',
  'onDelivery',
  'onChange',
  'deliver',
];

/** Origin of the storage of a sandbox that does not listen. */
const STORAGE = 'https://storage.sandbox.invalid';

/**
 * Returns a test for vitest that repeats a recording in a sandbox and expects the same statuses. It continues with the state at
 * the start of the recording, at the times of its steps, and receivers of webhooks respond as they did. Requests that
 * overlapped are sent one after the other, in the order in which they ended.
 */
export function recordedTest(recording: Recording, options: SandboxOptions, storageUrl: string): string {
  const { state, startedAt, steps, deliveries } = recording;
  const statuses = deliveries.toSorted((a, b) => a.at - b.at).map(({ status }) => status ?? 0);
  const plain = Object.entries(options).filter(([name, value]) => !LEFT_OUT.includes(name) && value !== undefined);
  const functions = plain.filter(([, value]) => hasFunction(value)).map(([name]) => name);
  const kept = plain
    .filter(([name]) => !functions.includes(name))
    .map(([name, value]) => `    ${name}: ${literal(value)},\n`);
  const tokens = new Set(steps.flatMap(({ request }) => request?.token ?? []));
  const constants = [...tokens].map((token) => `  const ${constantOf(token)} = ${literal(`Bearer ${token}`)};\n`);
  const title = `the session of ${new Date(startedAt).toISOString()}`;
  const missing = functions.map((name) => `    // Add the option \`${name}\`: it contains functions.\n`);
  return `import { createSandbox } from 'audience-activation/sandbox';
import { expect, test } from 'vitest';

test(${literal(title)}, async () => {
  /** Statuses of the receivers of webhooks, in the order of the attempts; 0 for none. */
  const receivers = ${literal(statuses)};
  const sandbox = createSandbox({
    state,
    clock: 'manual',
${[...kept, ...missing].join('')}    deliver: async () => {
      const status = receivers.shift() ?? 204;
      if (status === 0) throw new Error('no response');
      return new Response(null, { status });
    },
  });
${constants.join('')}  const start = sandbox.now();
  /** Moves the clock to a time, in milliseconds since the start. */
  const at = (ms: number) => sandbox.advance(Math.max(0, start + ms - sandbox.now()));
  /** Sends a request; returns its status, 0 if the connection is cut. */
  const send = async (url: string, init: RequestInit) => {
    const response = await sandbox.fetch(url, { redirect: 'manual', ...init }).catch(() => undefined);
    return response?.status ?? 0;
  };

${steps.map((step) => stepSource(step, startedAt, storageUrl)).join('')}  await sandbox.close();
});

const state = JSON.parse(${literal(JSON.stringify(state))});
`;
}

function stepSource({ time, request, call }: Step, startedAt: number, storageUrl: string): string {
  const wait = `  await at(${Math.max(0, Number((time - startedAt).toFixed(3)))});\n`;
  return request ? `${wait}${requestSource(request, storageUrl)}` : `${wait}  ${call};\n`;
}

function requestSource(request: RecordedRequest, storageUrl: string): string {
  const { entry, url, body, token } = request;
  const consent = consentSource(request);
  if (consent !== undefined) return consent;
  const { origin, pathname, search } = new URL(url);
  const target = origin === storageUrl ? `${STORAGE}${pathname}${search}` : url;
  const authorization = token === undefined ? undefined : expression(constantOf(token));
  const init = literal(fetchOptions(request, authorization));
  const file = entry.method === 'PUT' && body === undefined ? fileSource(request) : undefined;
  const options = file === undefined ? init : `{ ...${init}, body: ${file} }`;
  return `  expect(await send(${literal(target)}, ${options})).toBe(${entry.status});\n`;
}

/** Returns the name of the constant with the `Authorization` header of a token, which begins with its id. */
const constantOf = (token: string): string => `bearer${token.split('|', 1)[0]}`;

/** A consent of a logged-in session: its cookie is valid in that session only. */
function consentSource({ entry, url, body }: RecordedRequest): string | undefined {
  const isConsent = entry.path === '/oauth/authorize' && entry.status === 303 && body?.includes('decision=allow');
  if (!isConsent || entry.account === undefined) return undefined;
  return `  sandbox.oauth.consent(sandbox.accounts.get(${literal(entry.account)}), ${literal(url)});\n`;
}

/** The bytes of a file are not kept; one with the same length takes their place. */
function fileSource({ headers }: RecordedRequest): string {
  const size = Number(headers.find(([name]) => name === 'content-length')?.[1] ?? 0);
  return `'x'.repeat(${size})`;
}

function hasFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasFunction);
}
