import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

/** Builds `dist` anew. */
rmSync('dist', { recursive: true, force: true });
const { status } = spawnSync('tsup', ['--silent'], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

// Types of msw are for those who have it; for others its handlers are of any type, and no error.
const path = 'dist/sandbox.d.ts';
const types = readFileSync(path, 'utf8');
const found = /^import \{ RequestHandler \} from 'msw';$/m;
if (!found.test(types)) throw new Error(`${path} takes no type from msw any more: mend scripts/build.ts.`);
writeFileSync(path, types.replace(found, '// @ts-ignore -- msw is optional\n$&'));
