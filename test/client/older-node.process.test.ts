import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it.each([
  "new AudienceClient({ baseUrl: 'https://api.example.com', token: 'x' })",
  "await apiToken({ email: 'a@b.c', password: 'p' }, { store: memoryTokenStore(), baseUrl: 'https://api.example.com' }).get({})",
])('a Node that is too old is named at the first use: %s', async (use) => {
  const script = `
    delete Promise.withResolvers;
    const { AudienceClient, apiToken, memoryTokenStore } = await import('./src/index.ts');
    try { ${use}; } catch (error) { console.log(error.name + ': ' + error.message); }`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toBe(
    'ConfigurationError: audience-activation needs Node >= 22.12, or a browser of the last two years.\n',
  );
});
