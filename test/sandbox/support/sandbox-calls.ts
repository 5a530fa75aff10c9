import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { credentials } from '../../support/sandbox.ts';

export { credentials };
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

interface Call {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** Starts a sandbox with a manual clock, and functions that call it without the client. */
export function startSandbox(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ clock: 'manual', ...options });
  const account = sandbox.accounts.create(credentials);
  const call = async (method: string, path: string, { token, body, headers = {} }: Call = {}) => {
    const response = await sandbox.fetch(
      new Request(`http://sandbox${path}`, {
        method,
        headers: {
          accept: 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const create = (token: string, key?: string, body: unknown = { name: 'x' }) =>
    call('POST', '/api/v2/audiences/create', { token, body, ...(key && { headers: { 'idempotency-key': key } }) });
  return { sandbox, account, call, create, token: account.token('api') };
}
