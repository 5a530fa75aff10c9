import { AudienceClient, type ServiceContract } from '../index.ts';
import { readJsonFile } from './body-input.ts';
import type { GlobalFlags } from './context.ts';
import { EXAMPLE_ADDRESS, HIDDEN } from './dry-run.ts';
import { messageOf } from './error-texts.ts';
import { usageError } from './exit-codes.ts';

/**
 * Returns the contract of `--contract` or, unless a profile is chosen by flag, of AUDIENCE_CONTRACT.
 *
 * @throws {CommandError} if the file cannot be read, or is not valid: the message names the place.
 */
export async function readContract(
  { contract, profile }: GlobalFlags,
  env: NodeJS.ProcessEnv,
): Promise<ServiceContract | undefined> {
  const path = contract ?? (profile === undefined ? env.AUDIENCE_CONTRACT : undefined);
  if (!path) return undefined;
  const value = await readJsonFile(path);
  try {
    // The client checks it.
    const read = value as ServiceContract;
    await new AudienceClient({ baseUrl: EXAMPLE_ADDRESS, token: HIDDEN, contract: read }).close();
    return read;
  } catch (error) {
    throw usageError(`${path}: ${messageOf(error)}`);
  }
}
