import { expression, literal } from '../admin/call-source.ts';
import type { SandboxOptions } from '../sandbox-options.ts';
import { SERVICE_LIMITS } from '../service-limits.ts';
import type { KeptRequest, Recording, Step } from './recorder.ts';
import { base64Of, decode, readRequest } from './request-source.ts';
import { FORBIDDEN_METHODS } from './resend.ts';
import { TestSecrets } from './test-secrets.ts';

/** Options that the test repeats. The other options are part of the state, or do not affect responses. */
const KEPT_OPTIONS: readonly (keyof SandboxOptions)[] = ['contract', 'jobs', 'redirectHosts', 'signatureClock'];

/** Origin of the storage of a sandbox that does not listen. */
const STORAGE = 'https://storage.sandbox.invalid';

/** Statuses that depend on the connection: a missing length, an unknown `Host`. */
const NOT_REPEATED: readonly number[] = [411, 421];

const MAX_FILE = 2 ** 26;

/**
 * Returns a test for vitest that repeats a recording in a sandbox and expects the same statuses. It continues with the
 * state at the start of the recording. Each step begins at its recorded time, overlapping requests end in the recorded
 * order, and webhook receivers return the recorded statuses.
 */
export function recordedTest(recording: Recording, options: SandboxOptions, storageUrl: string): string {
  const { state, startedAt, limits, faults, steps, receivers } = recording;
  const writer = new StepWriter(startedAt, storageUrl);
  const lines = steps.flatMap((step, index) => writer.write(step, index));
  lines.push(...writer.endBefore(Number.POSITIVE_INFINITY));
  const changed = Object.entries(limits).filter(([name, limit]) => literal(limit) !== literal(defaultLimit(name)));
  const left = (times: number) => Number.isFinite(times) && { times };
  const rules = faults.map(({ rule, remaining }) => ({ ...rule, ...left(remaining) }));
  const settings = Object.entries({
    ...Object.fromEntries(KEPT_OPTIONS.map((name) => [name, options[name]])),
    ...(changed.length > 0 && { limits: Object.fromEntries(changed) }),
    ...(rules.length > 0 && { faults: rules }),
  }).flatMap(([name, value]) => (value === undefined ? [] : [settingSource(name, value)]));
  return `// A recorded session. It contains the tokens, passwords and secrets of the sandbox.
import { createSandbox } from 'audience-activation/sandbox';
import { expect, test } from 'vitest';

test(${literal(`the session of ${new Date(startedAt).toISOString()}`)}, { timeout: 120_000 }, async () => {
  /** Response statuses of webhook receivers, by URL and event; 0 for no response. */
  const receivers: Record<string, number[]> = ${literal(Object.fromEntries(receivers))};
  const sandbox = createSandbox({
    state,
    clock: 'manual',
${settings.join('')}    async deliver(request) {
      const { id } = await request.json();
      const status = receivers[\`\${request.url} \${id}\`]?.shift() ?? 204;
      if (status === 0) throw new Error('no response');
      return new Response(null, { status });
    },
  });
${writer.secrets.constants()}  const start = sandbox.now();
  /** Moves the clock to a time in milliseconds since the start. */
  const at = (ms: number) => sandbox.advance(Math.max(0, start + ms - sandbox.now()));
  /** Sends a request. Returns the status of the response; 0 if the connection was cut. */
  const send = async (url: string, init: RequestInit) => {
    const response = await sandbox.fetch(url, { redirect: 'manual', ...init }).catch(() => undefined);
    return response?.status ?? 0;
  };
  /** Resolves when the sandbox has received the requests that were sent. */
  const begun = () => new Promise((resolve) => setTimeout(resolve, 5));
  /** Returns a file with a size and a number of lines. */
  const file = (size: number, lines: number) => new Blob(['x'.repeat(size - lines), '\\n'.repeat(lines)]);

${lines.join('')}  await sandbox.close();
});

const state = JSON.parse(${literal(JSON.stringify(state))});
`;
}

const defaultLimit = (name: string): unknown => Object.entries(SERVICE_LIMITS).find(([key]) => key === name)?.[1];

function settingSource(name: string, value: unknown): string {
  return hasFunction(value)
    ? `    // Add the option \`${name}\`: it contains functions.\n`
    : `    ${name}: ${literal(value)},\n`;
}

function hasFunction(value: unknown): boolean {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasFunction);
}

class StepWriter {
  readonly #startedAt: number;
  readonly #storageUrl: string;
  readonly secrets = new TestSecrets();
  #pending: { readonly order: number; readonly time: number; readonly code: string }[] = [];
  #time = -1;

  constructor(startedAt: number, storageUrl: string) {
    this.#startedAt = startedAt;
    this.#storageUrl = storageUrl;
  }

  /** Returns the lines of a step, after the lines of the requests that ended before it. */
  write(step: Step, index: number): string[] {
    const lines = this.endBefore(step.started.order);
    if ('call' in step) return [...lines, ...this.#at(step.started.time), `  ${step.call};\n`];
    const { request, started, ended } = step;
    const { method, path } = request.entry;
    const status = repeatedStatus(request);
    if (NOT_REPEATED.includes(status) || FORBIDDEN_METHODS.includes(method)) return lines;
    const consent = consentSource(request);
    if (consent !== undefined) return [...lines, ...this.#at(started.time), consent];
    const call = this.#sendSource(request);
    if (call === undefined) {
      return [...lines, `  // Not repeated, because its complete body was not kept: ${method} ${path} (${status})\n`];
    }
    lines.push(...this.#at(started.time));
    // A step that began during the request has a number between the numbers of the start and the end of the request.
    if (ended.order === started.order + 1) return [...lines, `  expect(await ${call}).toBe(${status});\n`];
    const name = `request${index + 1}`;
    this.#pending.push({ ...ended, code: `  expect(await ${name}).toBe(${status});\n` });
    return [...lines, `  const ${name} = ${call};\n  await begun();\n`];
  }

  /** Returns the lines that await the requests in flight that ended before a moment. */
  endBefore(order: number): string[] {
    const ended = this.#pending.filter((one) => one.order < order).sort((a, b) => a.order - b.order);
    this.#pending = this.#pending.filter((one) => one.order >= order);
    return ended.flatMap(({ time, code }) => [...this.#at(time), code]);
  }

  #at(time: number): string[] {
    const ms = Math.max(0, Number((time - this.#startedAt).toFixed(3)));
    if (ms <= this.#time) return [];
    this.#time = ms;
    return [`  await at(${ms});\n`];
  }

  /** Returns the code that sends a request; `undefined` if its body was not kept. */
  #sendSource(request: KeptRequest): string | undefined {
    const { entry, address, file } = request;
    // A body that no route read has no effect. A truncated body or a long file cannot be repeated.
    const isCut = entry.method === 'PUT' && entry.status === 400 && !file;
    const isUnknown = request.isDisconnected && entry.served === undefined && !isAbandoned(request);
    if (request.isBodyDropped || isCut || isUnknown || (file && file.size > MAX_FILE)) return undefined;
    const { url, headers, body } = readRequest(request, this.secrets);
    const isStored = new URL(url).origin === this.#storageUrl;
    const init = {
      ...(entry.method !== 'GET' && { method: entry.method }),
      // The client disconnected while a fault delayed the request.
      ...(isAbandoned(request) && { signal: expression(`AbortSignal.timeout(${Math.ceil(request.duration)})`) }),
      headers: {
        ...Object.fromEntries(headers),
        ...(address !== '127.0.0.1' && { 'x-forwarded-for': address }),
      },
      ...((file || body) && {
        body: file ? expression(`file(${file.size}, ${Math.min(file.size, file.lines)})`) : bodySource(body),
      }),
    };
    return `send(${literal(isStored ? url.replace(this.#storageUrl, STORAGE) : url)}, ${literal(init)})`;
  }
}

/** Returns whether the client disconnected before the service acted. */
const isAbandoned = ({ isDisconnected, entry }: KeptRequest): boolean =>
  isDisconnected && entry.served === undefined && entry.fault !== undefined;

/** Returns the status in the test, whose client stays connected once the service has acted. */
const repeatedStatus = ({ isDisconnected, entry }: KeptRequest): number =>
  isDisconnected && !entry.fault?.includes('cut after') ? (entry.served ?? entry.status) : entry.status;

const bodySource = (body: string | Uint8Array = ''): string | object =>
  typeof body === 'string'
    ? body
    : expression(`Uint8Array.from(atob('${base64Of(body)}'), (character) => character.charCodeAt(0))`);

/** The consent form of a logged-in session, whose cookie is valid only in that session. */
function consentSource({ entry, url, body }: KeptRequest): string | undefined {
  const isConsent = entry.path === '/oauth/authorize' && entry.status === 303 && body;
  if (!isConsent || entry.account === undefined || !decode(body)?.includes('decision=allow')) return undefined;
  return `  sandbox.oauth.consent(sandbox.accounts.get(${literal(entry.account)}), ${literal(url)});\n`;
}
