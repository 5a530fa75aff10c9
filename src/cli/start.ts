#!/usr/bin/env node
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../util/version.ts';

/**
 * Returns the folder in which Node caches the compiled code of the command. Node runs this code, so only the user may
 * write to the folder. Node's default, the folder for temporary files, is writable for everyone.
 *
 * @throws {Error} if the user has no home folder.
 */
function compileCacheFolder(): string {
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const parent = process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME;
  return join(parent || join(homedir(), '.cache'), 'audience-activation');
}

/** Returns whether this version of Node meets `engines` of package.json. */
function isSupportedNode(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 12);
}

// Older versions of Node cannot even import the command.
if (!isSupportedNode()) {
  console.error(`error: This command needs Node 22.12 or later, and this is Node ${process.versions.node}.`);
  process.exit(1);
}
if (['-v', '--version'].includes(process.argv[2] ?? '')) {
  console.log(VERSION);
  process.exit(0);
}
try {
  module.enableCompileCache(compileCacheFolder());
} catch {
  // Without a home folder, each run compiles the code again.
}
// Import dynamically: Node would compile static imports before the cache is enabled.
await import('./main.ts');
