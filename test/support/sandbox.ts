import { onTestFinished } from 'vitest';
import { AudienceClient, type ClientOptions } from '../../src/index.ts';
import { createSandbox, type Sandbox, type SandboxAccount, type SandboxOptions } from '../../src/sandbox/index.ts';
import { quick } from './server.ts';

export const credentials = { email: 'ada@example.com', password: 'correct horse' };

/** A sandbox over HTTP for one test, with an account and a client of that account. */
export interface TestBench {
  readonly sandbox: Sandbox;
  readonly account: SandboxAccount;
  readonly url: string;
  readonly client: AudienceClient;
  /** Creates another client of the sandbox. */
  connect(options?: ClientOptions): AudienceClient;
}

/** Starts a sandbox on a free port, by default with a manual clock. */
export async function startBench(options: SandboxOptions = {}, client: ClientOptions = {}): Promise<TestBench> {
  const sandbox = createSandbox({ clock: 'manual', ...options });
  const account = sandbox.accounts.create(credentials);
  const { url, close } = await sandbox.listen();
  onTestFinished(close);
  const connect = (more: ClientOptions = {}): AudienceClient => {
    const created = new AudienceClient({ baseUrl: url, ...quick, ...more });
    onTestFinished(() => created.close());
    return created;
  };
  return { sandbox, account, url, connect, client: connect({ token: account.token('api'), ...client }) };
}

/** Returns a dataset that the service accepts. */
export function recentDataset(): { analysis_type: string; start_date: string; end_date: string }[] {
  const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  return [{ analysis_type: 'WebDomain', start_date: day(20), end_date: day(1) }];
}
