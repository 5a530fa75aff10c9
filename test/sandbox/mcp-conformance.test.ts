import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startBearerProxy } from '../support/bearer-proxy.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { startBench } from '../support/sandbox.ts';

const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** Runs a scenario of the official suite against a sandbox: how it ended, and the checks that it wrote down. */
async function conformance(scenario: string) {
  const { url, account } = await startBench();
  // The suite knows no tokens.
  const proxy = await startBearerProxy(url, account.token('mcp'));
  const cwd = await temporaryDirectory();
  const args = ['server', '--url', `${proxy}/api/v2/mcp`, '--scenario', scenario, '--output-dir', cwd];
  const failure = await new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...args], { cwd, timeout: 20_000 }, resolve);
  });
  const file = (await readdir(cwd, { recursive: true })).find((name) => name.endsWith('checks.json'));
  const checks: unknown = file && JSON.parse(await readFile(join(cwd, file), 'utf8'));
  return { failure, checks };
}

describe('the official conformance suite of MCP', () => {
  it.each([
    ['server-initialize', ['server-initialize']],
    ['ping', ['ping']],
    ['tools-list', ['tools-list']],
    ['dns-rebinding-protection', ['localhost-host-rebinding-rejected', 'localhost-host-valid-accepted']],
  ])('finds nothing wrong in %s', async (scenario, ids) => {
    const checks = ids.map((id) => ({ id, status: 'SUCCESS' }));
    expect(await conformance(scenario)).toMatchObject({ failure: null, checks });
  });
});
