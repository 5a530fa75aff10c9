import { basename } from 'node:path';

/** Name of the program. */
export const PROGRAM = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';

/** Words to type for the command. npm and npx, which may quote it, find the program that the shell does not find. */
export const NAME = /^["']?aud/.test(process.env.npm_lifecycle_script ?? '') ? `npx ${PROGRAM}` : PROGRAM;
