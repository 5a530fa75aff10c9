import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { consent, startOAuthBench } from '../support/oauth.ts';

const SOON = { timeout: 180_000 };

const PROGRAM = fileURLToPath(new URL('./sign-in-process.ts', import.meta.url));

/** Starts a program that signs in; `printed` collects its output. */
async function startProgram(env: Record<string, string>, flags: readonly string[] = [], program = PROGRAM) {
  const { url } = await startOAuthBench();
  const child = spawn(process.execPath, [...flags, program, url], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill());
  const printed = { stderr: '' };
  child.stderr.on('data', (chunk: Buffer) => {
    printed.stderr += chunk.toString();
  });
  return { child, printed, stdout: text(child.stdout), ended: endOf(child) };
}

async function endOf(child: ChildProcess): Promise<unknown> {
  const [code] = await once(child, 'close');
  return code;
}

/** Bundles the program, without `open`, into a folder from which no package can be found. */
async function programWithoutOpen(): Promise<string> {
  const outfile = join(await temporaryDirectory(), 'sign-in.mjs');
  await build({ entryPoints: [PROGRAM], outfile, bundle: true, platform: 'node', format: 'esm', external: ['open'] });
  return outfile;
}

const addressIn = (stderr: string): string => /^Open this address to sign in: (\S+)\n/.exec(stderr)?.[1] ?? '';

describe('a program that signs in with the browser of this machine', () => {
  it('opens it with the address that it prints', async () => {
    const directory = await temporaryDirectory();
    const [browser, seen] = [join(directory, 'browser'), join(directory, 'seen')];
    await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`);
    await chmod(browser, 0o755);
    const { printed, stdout, ended } = await startProgram({ PATH: process.env.PATH ?? '', BROWSER: browser });
    await expect.poll(() => readFile(seen, 'utf8').catch(() => ''), SOON).not.toBe('');
    const opened = await readFile(seen, 'utf8');
    expect(opened).toBe(addressIn(printed.stderr));
    expect((await fetch(await consent(opened))).status).toBe(200);
    expect([await ended, await stdout]).toEqual([0, 'signed in: true\n']);
  });

  it.each([
    ['there is no browser', []],
    ['programs must not be started', ['--permission', '--allow-fs-read=*', '--disable-warning=SecurityWarning']],
  ])('prints the address where %s, and ends', async (_, flags) => {
    const { printed, stdout, ended } = await startProgram({ PATH: '' }, flags);
    await expect.poll(() => addressIn(printed.stderr), SOON).not.toBe('');
    expect((await fetch(await consent(addressIn(printed.stderr)))).status).toBe(200);
    expect([await ended, await stdout]).toEqual([0, 'signed in: true\n']);
    expect(printed.stderr.trim().split('\n')).toHaveLength(1);
  });

  it('prints the address where `open` is not installed, and continues when the user opens it', async () => {
    const program = await programWithoutOpen();
    const { printed, stdout, ended } = await startProgram({ PATH: process.env.PATH ?? '' }, [], program);
    await expect.poll(() => addressIn(printed.stderr), SOON).not.toBe('');
    expect((await fetch(await consent(addressIn(printed.stderr)))).status).toBe(200);
    expect([await ended, await stdout]).toEqual([0, 'signed in: true\n']);
    expect(printed.stderr.trim().split('\n')).toHaveLength(1);
  });
});
