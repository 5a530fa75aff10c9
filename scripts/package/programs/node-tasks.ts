import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { AudienceClient, OAuthError } from 'audience-activation';
import { openFile, toNodeListener } from 'audience-activation/node';
import { OAuthError as OAuthErrorAgain } from 'audience-activation/oauth';
import { createSandbox } from 'audience-activation/sandbox';
import { createWebhookReceiver } from 'audience-activation/webhooks';
import { check, type Tasks } from './tasks.ts';

const { fetch, Request, Response } = globalThis;

/** Tasks with what only servers have: a file by its path, a port, and `require` besides `import`. */
export const NODE_TASKS: Tasks = {
  async 'file and server'() {
    const sandbox = createSandbox({ jobs: { duration: 0 } });
    const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
    const secrets: string[] = ['whsec_to_come'];
    const receiver = createWebhookReceiver({ secrets, on: {} });
    const server = createServer(toNodeListener(receiver));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    secrets[0] = sandbox.webhooks.create({ url: `http://127.0.0.1:${port}/`, events: ['cohort.completed'] }).secret;
    const delivered = new Promise((resolve) => receiver.attach({ notify: resolve }));

    const { url: baseUrl, close } = await sandbox.listen();
    const client = new AudienceClient({ baseUrl, token: account.token('api') });
    const path = `customers-${process.pid}.csv`;
    await writeFile(path, 'email\na@example.com\nb@example.com\n');
    const cohort = await client.cohorts.import(await openFile(path), { name: 'Customers' });
    check(cohort.status.id === 4, 'the cohort is imported');
    await delivered;
    await client.close();
    await close();
    await sandbox.close();
    await new Promise((done) => server.close(done));
  },

  async require() {
    const require = createRequire(`${process.cwd()}/`);
    const { exports } = require('audience-activation/package.json');
    for (const path of Object.keys(exports).filter((it) => !it.endsWith('.json'))) {
      const entry = `audience-activation${path.slice(1)}`;
      const [imported, required] = [await import(entry), require(entry)];
      const isSame = Object.keys(imported).every((name) => imported[name] === required[name]);
      check(isSame, `import and require give the same classes of ${entry}`);
    }
    check(OAuthErrorAgain === OAuthError, 'the entry of OAuth has the classes of the root');
    const isUnchanged =
      fetch === globalThis.fetch && Request === globalThis.Request && Response === globalThis.Response;
    check(isUnchanged, 'the globals are unchanged');
  },
};
