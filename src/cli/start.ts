#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Returns the folder in which Node keeps the compiled code of the command for the next run. It is the user's own, because
 * Node runs what it finds there, and others can write to the folder for temporary files, its default.
 *
 * @throws {Error} if the user has no home folder.
 */
function compileCacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const parent = process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME;
  return join(parent || join(homedir(), '.cache'), 'audience-activation');
}

try {
  enableCompileCache(compileCacheFolder());
} catch {
  // Without a home folder, each run compiles its code.
}
// Imports that are not dynamic would be compiled before the cache is enabled.
await import('./main.ts');
