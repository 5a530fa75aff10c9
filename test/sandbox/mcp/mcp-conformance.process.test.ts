import { describe, expect, it } from 'vitest';
import { runConformance } from '../../support/conformance.ts';
import { startBench } from '../../support/sandbox.ts';
import { startBearerProxy } from './bearer-proxy.ts';

describe('the official conformance suite of MCP', () => {
  it.each([
    ['server-initialize', ['server-initialize']],
    ['ping', ['ping']],
    ['tools-list', ['tools-list']],
    ['dns-rebinding-protection', ['localhost-host-rebinding-rejected', 'localhost-host-valid-accepted']],
  ])('the suite passes in %s', async (scenario, ids) => {
    const { url, account } = await startBench();
    // The suite sends no tokens.
    const proxy = await startBearerProxy(url, account.token('mcp'));
    const checks = ids.map((id) => ({ id, status: 'SUCCESS' }));
    const run = await runConformance('server', '--url', `${proxy}/api/v2/mcp`, '--scenario', scenario);
    expect(run).toMatchObject({ failure: null, checks });
  });
});
