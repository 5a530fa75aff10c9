import { AUDIENCE_STATUS } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';

/** Serves a sandbox until the parent process disconnects. Builds named "… cannot be built" end at 107. */
const speed = Number(process.argv[2] ?? 1);
const sandbox = createSandbox({
  clock: { speed },
  // Uploads take real time, so the 15 minutes to claim a file must not pass faster.
  limits: { claimWindow: 15 * 60_000 * speed },
  jobs: {
    outcome: ({ name }) => AUDIENCE_STATUS[name.includes('cannot be built') ? 'additionalInfo' : 'completed'],
    duration: ({ id }) => (5 + (id % 7)) * 60_000,
  },
});
const credentials = { email: 'demo@example.com', password: 'a password of the sandbox' };
sandbox.accounts.create(credentials);
const { url, close } = await sandbox.listen();
process.send?.({ url, credentials });
// Ignore Ctrl-C, which a terminal sends to every process: this process ends when its parent does.
process.on('SIGINT', () => {});
process.once('disconnect', close);
