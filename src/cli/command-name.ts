import { basename } from 'node:path';

/** Name by which the command was called. */
export const NAME = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';
