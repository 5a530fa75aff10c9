import { AudienceClient, type ServiceContract } from '../../index.ts';
import type { Context } from '../terminal/context.ts';
import { EXAMPLE_ADDRESS, HIDDEN } from '../terminal/dry-run.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { usageError } from '../terminal/exit-codes.ts';
import { readJsonFile } from './body-input.ts';

/**
 * Returns the contract of `--contract` or, unless `--profile` is set, of AUDIENCE_CONTRACT.
 *
 * @throws {CommandError} if the file cannot be read or is not a valid contract.
 */
export async function readContract(
  context: Pick<Context, 'flags' | 'env' | 'stdin' | 'signal'>,
): Promise<ServiceContract | undefined> {
  const { contract, profile } = context.flags;
  const path = contract ?? (profile === undefined ? context.env.AUDIENCE_CONTRACT : undefined);
  if (!path) return undefined;
  const value = await readJsonFile(path, context);
  try {
    // The client checks the contract.
    const read = value as ServiceContract;
    await new AudienceClient({ baseUrl: EXAMPLE_ADDRESS, token: HIDDEN, contract: read }).close();
    return read;
  } catch (error) {
    throw usageError(`${path}: ${messageOf(error)}`);
  }
}
