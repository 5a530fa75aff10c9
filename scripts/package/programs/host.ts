import { createSandbox } from 'audience-activation/sandbox';

/** Serves a sandbox over HTTP to other runtimes until its standard input ends. */
const sandbox = createSandbox({ jobs: { duration: 0 } });
const token = sandbox.accounts.create({ email: 'a@example.com', password: 'x' }).token('api');
const { url: baseUrl } = await sandbox.listen();
console.log(JSON.stringify({ baseUrl, token }));
process.stdin.resume().once('end', () => process.exit());
