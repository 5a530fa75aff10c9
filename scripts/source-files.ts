import { globSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the paths of all source files below `src`, with forward slashes. */
export function sourceFiles(root = '.'): string[] {
  return globSync('**/*.ts', { cwd: join(root, 'src') }).map((path) => path.replaceAll('\\', '/'));
}
