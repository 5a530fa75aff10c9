import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Prints whether the built console is loaded: before and after it is opened. */
const PROGRAM = `
import { registerHooks } from 'node:module';
const urls = [];
registerHooks({
  load(url, context, next) {
    urls.push(url);
    return next(url, context);
  },
});
const { createSandbox } = await import('audience-activation/sandbox');
const sandbox = createSandbox();
sandbox.accounts.create({ email: 'me@example.com', password: 'x' });
const { url } = await sandbox.listen();
await fetch(url + '/api/v2/usage');
const isLoaded = () => urls.some((one) => one.includes('/dist/console-'));
const before = isLoaded();
await sandbox.listen({ console: true });
console.log(JSON.stringify([before, isLoaded()]));
await sandbox.close();
`;

describe('the code of the console', () => {
  it('is loaded when the console is opened, and not before', () => {
    const args = ['--input-type=module', '--eval', PROGRAM];
    const output = execFileSync(process.execPath, args, { encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual([false, true]);
  });
});
