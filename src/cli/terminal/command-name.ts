import { basename } from 'node:path';

/** Name of the program. */
export const PROGRAM = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';

/**
 * Words to type for the command. With npm and npx, these include `npx`, because the shell does not find the program.
 */
export const NAME = process.env.npm_lifecycle_script?.startsWith('aud') ? `npx ${PROGRAM}` : PROGRAM;
