import { basename } from 'node:path';

/** Name of the program. */
export const PROGRAM = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';

/** Words with which the user calls it: npm and npx find the program, their shell does not. */
export const NAME = process.env.npm_lifecycle_script?.startsWith('aud') ? `npx ${PROGRAM}` : PROGRAM;
