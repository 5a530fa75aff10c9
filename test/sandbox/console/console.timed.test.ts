import { expect, it } from 'vitest';
import { ACCOUNT_PAGES, PAGES, startConsole } from '../../support/console.ts';

it('each page is created within 100 ms after 10,000 requests and 5,000 deliveries', async () => {
  const { api, page, sandbox, logIn } = await startConsole({ limits: { read: { limit: 1e6, interval: 1 } } });
  for (let count = 0; count < 10_000; count++) await api('GET', `/api/v2/audiences/${count}`);
  const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
  for (let count = 0; count < 5_000; count++) sandbox.webhooks.test(id);
  await sandbox.advance(0);
  const cookie = await logIn();
  for (const path of [...PAGES, '/requests/req_5000', '/requests?q=audience', '/deliveries?q=test', ...ACCOUNT_PAGES]) {
    const times = [];
    for (let run = 0; run < 3; run++) {
      const start = performance.now();
      await page(path, cookie);
      times.push(performance.now() - start);
    }
    // The shortest time is that of the page; others also wait for the rest of the machine.
    expect([path, Math.min(...times) < 100, times]).toEqual([path, true, times]);
  }
});
