import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from './directory.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** Result of one check of the suite. */
interface Check {
  readonly id: string;
  readonly status: string;
}

/** Runs the official MCP conformance suite; returns the error of its process, its output and its checks. */
export async function runConformance(...args: readonly string[]) {
  const cwd = await temporaryDirectory();
  const [failure, output] = await new Promise<[unknown, string]>((resolve) => {
    const options = { cwd, timeout: 170_000 };
    execFile(process.execPath, [SUITE, ...args, '--output-dir', cwd], options, (error, out) => resolve([error, out]));
  });
  const files = (await readdir(cwd, { recursive: true })).filter((name) => name.endsWith('checks.json'));
  const read = async (name: string): Promise<Check[]> => JSON.parse(await readFile(join(cwd, name), 'utf8'));
  return { failure, output, checks: (await Promise.all(files.map(read))).flat() };
}
