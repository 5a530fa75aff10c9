import { basename } from 'node:path';

/** Name of the program. */
export const PROGRAM = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';

/** What a user types to call it: npm and npx find it, the shell that called them does not. */
export const NAME = process.env.npm_lifecycle_script?.startsWith('aud') ? `npx ${PROGRAM}` : PROGRAM;
