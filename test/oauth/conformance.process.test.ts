import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runConformance } from '../support/conformance.ts';

const program = fileURLToPath(new URL('./conformance-client.ts', import.meta.url));

/** All scenarios of the suite `auth`. */
const SCENARIOS = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'basic-cimd',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'scope-retry-limit',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-post',
  'token-endpoint-auth-none',
  'pre-registration',
];

describe('a client made with this package', () => {
  it('passes all authorization scenarios of the official MCP conformance suite', async () => {
    const command = `${process.execPath} ${program}`;
    const { failure, output, checks } = await runConformance('client', '--command', command, '--suite', 'auth');
    const ends = output.split('\n').filter((line) => /^[✓✗] auth\//.test(line));
    expect(ends.map((line) => line.replace(/:.*/, ''))).toEqual(SCENARIOS.map((name) => `✓ auth/${name}`));
    expect(checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')).toEqual([]);
    expect(checks.filter(({ status }) => status === 'SUCCESS').length).toBeGreaterThan(100);
    expect(failure).toBeNull();
  });
});
