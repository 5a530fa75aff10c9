import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { startBench } from '../support/sandbox.ts';

const run = promisify(execFile);

describe('connectMcp in a CommonJS program', () => {
  it.each(['@modelcontextprotocol/client', '@modelcontextprotocol/sdk/client/index.js'])(
    'connects a client of %s, whose class `import` loads a second time',
    async (specifier) => {
      const { url, account } = await startBench();
      const args = ['test/mcp/mcp-client.cjs', specifier, url, account.token('mcp')];
      const { stdout } = await run(process.execPath, args);
      expect(JSON.parse(stdout)).toContain('audiences_create');
    },
  );
});
