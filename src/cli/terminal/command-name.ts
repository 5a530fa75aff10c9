import { basename } from 'node:path';

export const PROGRAM = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';

/** How the user calls the command: with `npx` if npm or npx started it, because the shell may not find the program. */
export const NAME = /^["']?aud/.test(process.env.npm_lifecycle_script ?? '') ? `npx ${PROGRAM}` : PROGRAM;
