import { createSandbox } from '../../sandbox/index.ts';
import { readContract } from '../input/contract-file.ts';
import { NAME } from '../terminal/command-name.ts';
import type { Account, Context } from '../terminal/context.ts';

/** Duration of a job in milliseconds. */
const JOB_MS = 3_000;

/** Starts a sandbox in this process. The sandbox ends with the command. Returns the account of the sandbox. */
export async function startTemporarySandbox(context: Context): Promise<Account> {
  const { output } = context;
  const contract = await readContract(context);
  output.note(
    `Using a new sandbox, which ends with this command. To keep a sandbox running, start \`${NAME} sandbox\`.`,
  );
  const sandbox = createSandbox({ jobs: { duration: JOB_MS }, contract });
  const token = sandbox.accounts.create({ email: 'dev@example.com', password: 'sandbox' }).token('api');
  return {
    baseUrl: 'http://localhost',
    token,
    source: 'sandbox',
    advice: '',
    fetch: sandbox.fetch,
    endsWithCommand: true,
    contract,
  };
}
