import { describe, expect, it } from 'vitest';
import { startConsole } from '../../support/console.ts';

/** Starts a console with two accounts of one organization, which have a resource each. */
async function startWithTwo() {
  const one = await startConsole();
  const { api, account, sandbox, createAudience } = one;
  sandbox.webhooks.create({ url: 'https://example.com/', name: 'My receiver' });
  const bo = sandbox.accounts.create({ email: 'bo@example.com', password: 'x', company: account.company });
  const authorization = `Bearer ${bo.token('api')}`;
  const mine = await createAudience('Shoppers');
  const created = await api('POST', '/api/v2/audiences/create', { name: 'Shoppers B' }, { authorization });
  const theirs: number = (await created.json()).data[0].id;
  await sandbox.advance(3_600_000);
  return { ...one, bo, authorization, mine, theirs };
}

describe('finding', () => {
  it('leads to what has the id, the key or the name, and otherwise searches the requests', async () => {
    const { api, request, sandbox, mine, theirs } = await startWithTwo();
    const body = { audience_id: mine, description: 'Spring campaign' };
    const activation = await (await api('POST', '/api/v2/activations/create', body)).json();
    const { id } = activation.data[0];
    const key = { 'idempotency-key': 'twice' };
    for (let count = 0; count < 2; count++) await api('POST', '/api/v2/projects/create', { name: 'P' }, key);
    const endpoint = sandbox.webhooks.deliveries[0]?.endpointId;
    // A loaded state has no bodies of requests.
    sandbox.restore(sandbox.save());
    const filter = 'account=bo%40example.com';
    for (const [query, location] of [
      ['Spring campaign', `/resources/${id}`],
      ['spring', `/resources/${id}`],
      ['Shoppers', `/resources/${mine}`],
      ['"shoppers b"', `/resources/${theirs}`],
      ['shop', '/resources?q=%22shop%22'],
      [`audience:${mine}`, `/resources/${mine}`],
      [`activation:${mine}`, null],
      ['My receiver', `/deliveries?q=endpoint%3A${endpoint}`],
      ['twice', '/requests?q=key%3Atwice'],
      ['status:2', '/requests?q=status%3A2'],
      ['status:404', null],
      [`shop&${filter}`, `/resources/${theirs}?${filter}`],
      [`status:2&${filter}`, `/requests/req_2?${filter}`],
    ])
      expect([query, (await request(`/find?q=${query}`)).headers.get('location')]).toEqual([query, location]);
  });
});

describe('the account filter', () => {
  it('stays on every link, and leaves out requests and events of other accounts', async () => {
    const { api, authorization, page, mine, theirs } = await startWithTwo();
    await api('GET', `/api/v2/audiences/${theirs}`);
    await api('GET', `/api/v2/audiences/${theirs}`, undefined, { authorization });
    const filter = 'account=bo%40example.com';
    for (const path of ['/requests', '/requests/req_2', `/resources/${theirs}`, '/deliveries', '/clock', '/limits']) {
      const text = await page(`${path}?${filter}`);
      const links = [...text.matchAll(/ href="(\/[^"]*)"/g)].map(([, href = '']) => href);
      const others = links.filter((href) => !href.includes('account=') && !/^\/\w+\./.test(href));
      expect([path, others, links.length > 10]).toEqual([path, [], true]);
    }
    const text = await page(`/requests/req_2?${filter}`);
    expect(text).toContain(`href="/requests/req_4?${filter}">Newer</a>`);
    expect(text).not.toContain('>Older</a>');
    const deliveries = await page(`/deliveries?${filter}`);
    expect(deliveries).toContain(`/resources/${theirs}?${filter}`);
    expect(deliveries).not.toContain(`/resources/${mine}?${filter}`);
    expect(deliveries).toMatch(/Deliveries<span>1<\/span>/);
    expect(await page('/deliveries')).toMatch(/Deliveries<span>2<\/span>/);
  });
});
