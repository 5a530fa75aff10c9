import { createSandbox, type FaultRule, type SandboxAccount, type SandboxOptions } from 'audience-activation/sandbox';
import { setupServer } from 'msw/node';

const options: SandboxOptions = {
  seed: 7,
  clock: { speed: 60 },
  start: new Date(),
  origin: 'https://api.example.com',
  jobs: { outcome: { status: 107, reason: 'why' }, devices: { eids: 9 }, duration: ({ kind }) => kind.length },
  limits: { read: { limit: 1, interval: 1 }, logLength: 5 },
  faults: [{ on: 'audiences.create', cut: 'after', times: 1 }],
  onRequest: ({ method, path, status, fault }) => console.log(method, path, status, fault),
};
const sandbox = createSandbox(options);
setupServer(...sandbox.handlers);
const asFetch: typeof fetch = sandbox.fetch;
const account: SandboxAccount = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
const remove: () => void = sandbox.faults.add({ status: 503, retryAfter: 1 });

export { account, asFetch, remove };

// @ts-expect-error -- a connection is cut before, after or in the body
export const wrong: FaultRule = { cut: 'never' };
// @ts-expect-error -- a kind of the credential exchange
account.token('oauth');
// @ts-expect-error -- kinds of job
sandbox.jobs.next('schedule', 104);
