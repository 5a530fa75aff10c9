import { basename } from 'node:path';

/** Name of the program. */
export const PROGRAM = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';

/** Words to type for the command: npm and npx find the program that the shell does not find. */
export const NAME = process.env.npm_lifecycle_script?.startsWith('aud') ? `npx ${PROGRAM}` : PROGRAM;
