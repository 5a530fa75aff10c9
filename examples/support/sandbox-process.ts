import { createSandbox } from 'audience-activation/sandbox';

/** Serves a sandbox until the parent process is gone. Builds named "… cannot be built" end at 107. */
const speed = Number(process.argv[2] ?? 1);
const sandbox = createSandbox({
  clock: { speed },
  // Uploads are made in real time: their 15 minutes stay 15 minutes.
  limits: { claimWindow: 15 * 60_000 * speed },
  jobs: { outcome: ({ name }) => (name.includes('cannot be built') ? 107 : 104) },
});
const credentials = { email: 'demo@example.com', password: 'a password of the sandbox' };
sandbox.accounts.create(credentials);
const { url, close } = await sandbox.listen();
process.send?.({ url, credentials });
process.once('disconnect', close);
