import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PAGES, SCRIPT, serveConsole, startConsole } from '../../support/console.ts';
import { credentials } from '../../support/sandbox.ts';

/** Returns the text of a page. */
const textOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

describe('the pages', () => {
  it.each(PAGES)('%s shows what to do while there is nothing', async (path) => {
    const { page } = await startConsole();
    const text = await page(path);
    expect(text).toContain('<main id="main"');
    // Without the script, the fields of a form must not end up in an address.
    expect(text.match(/<form [^>]*data-action/g) ?? []).toEqual(
      text.match(/<form [^>]*method="post" data-action/g) ?? [],
    );
    expect(text).not.toContain('undefined');
  });

  it.each(['q', 'account', 'status', 'kind', 'state', 'event', 'to', 'before', 'span'])(
    'escape the parameter %s of their address',
    async (name) => {
      const { request } = await startConsole();
      for (const path of PAGES) {
        const response = await request(`${path}?${name}=${encodeURIComponent(`">${SCRIPT}`)}`);
        expect([path, response.status]).toEqual([path, 200]);
        expect(await response.text()).not.toMatch(/<script>|<img/);
      }
    },
  );

  it('the account filter holds for the lists, the navigation and the forms', async () => {
    const { api, account, createAudience, page, sandbox } = await startConsole();
    await createAudience('Mine');
    expect(await page('/requests')).not.toContain('accounts-menu');
    const bo = sandbox.accounts.create({ email: 'bo@example.com', password: 'x', company: 'Other' });
    const authorization = `Bearer ${bo.token('api')}`;
    await api('POST', '/api/v2/audiences/create', { name: 'Theirs' }, { authorization });
    sandbox.webhooks.create({ url: 'https://example.com/', name: 'Mine' });
    sandbox.webhooks.create({ url: 'https://example.com/', name: 'Theirs', account: bo });
    for (const path of ['/requests', '/jobs', '/deliveries', '/resources', '/accounts', '/limits']) {
      const all = await page(path);
      expect([path, all.includes('Mine') || all.includes(account.email), all.includes(bo.email)]).toEqual([
        path,
        true,
        true,
      ]);
      const [, shown = ''] = (await page(`${path}?account=${bo.email}`)).split('<main');
      expect([path, /Theirs|bo@example/.test(shown), shown.includes('Mine')]).toEqual([path, true, false]);
      expect([path, shown.includes(account.email)]).toEqual([path, false]);
    }
    expect(await page(`/deliveries?account=${bo.email}`)).toMatch(
      /href="\/deliveries\?account=bo%40example.com&amp;q=endpoint/,
    );
    const text = await page(`/jobs?account=${bo.email}`);
    expect(text).toContain('href="/requests?account=bo%40example.com"');
    expect(textOf(text)).toContain('Requests1');
    // While all are shown, a form asks for the account; one that names an account that does not exist shows all.
    // The newest one comes first.
    expect(await page('/accounts')).toMatch(/<select name="account"[^>]*><option value="bo@example.com"/);
    expect(await page(`/accounts?account=${bo.email}`)).toContain(
      `<input type="hidden" name="account" value="${bo.email}">`,
    );
    expect(await page('/accounts?account=no@example.com')).toContain(account.email);
    // What the filter hides is not said to be missing.
    sandbox.accounts.create({ email: 'new@example.com', password: 'x', company: 'New' });
    for (const path of ['/requests', '/jobs', '/deliveries', '/resources', '/clock']) {
      const empty = await page(`${path}?account=new@example.com`);
      expect([path, empty]).toEqual([path, expect.stringContaining(`href="${path}?account=">Clear the filter`)]);
    }
    expect(textOf(await page('/deliveries?account=new@example.com'))).toContain('No webhook endpoints match');
  });

  it('the navigation reports full limits, failing deliveries, and endpoints that the service has switched off', async () => {
    const { api, page, sandbox } = await startConsole({
      limits: { read: { limit: 1, interval: 60_000 } },
      deliver: async () => new Response(null, { status: 500 }),
    });
    const navigation = async () => textOf((await page('/faults')).split('id="nav-links"')[1]?.split('</nav>')[0] ?? '');
    expect(await navigation()).not.toMatch(/full|failing|off/);
    await api('GET', '/api/v2/usage');
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
    sandbox.webhooks.test(id);
    await sandbox.advance(0);
    expect(await navigation()).toMatch(/Deliveries1\sfailing.*Limits1 full/s);
    // The link leads to what the number counts.
    expect(await page('/faults')).toContain('href="/deliveries?state=waiting"');
    expect(textOf(await page('/deliveries?state=waiting'))).toMatch(/Failing 1.*1–1 of 1/s);
    await sandbox.advance(9 * 3_600_000);
    expect(await navigation()).toMatch(/Deliveries1\sgave\sup/);
    expect(await page('/faults')).toContain('href="/deliveries?state=failed"');
    for (let count = 0; count < 19; count++) sandbox.webhooks.test(id);
    await sandbox.advance(9 * 3_600_000);
    // The endpoint that is off hides neither what gave up nor what is failing.
    const other = sandbox.webhooks.create({ url: 'https://example.com/' });
    sandbox.webhooks.test(other.id);
    await sandbox.advance(0);
    expect(await navigation()).toMatch(/Deliveries1\soff, 1\sfailing, 20\sgave\sup/);
    expect(await page('/faults')).toContain('href="/deliveries"');
  });

  it('a search finds values, paths and keys, and no names of fields', async () => {
    const { api, page } = await startConsole();
    await api('POST', '/api/v2/projects/create', { name: 'Spring' }, { 'idempotency-key': 'my-key' });
    await api('GET', '/api/v2/usage');
    const idsOf = async (query: string) =>
      [...(await page(`/requests?q=${encodeURIComponent(query)}`)).matchAll(/<a href="\/requests\/(req_\w+)"/g)].map(
        ([, id]) => id,
      );
    for (const [query, ids] of [
      ['spring', ['req_1']],
      ['name', []],
      ['path:/usage', ['req_2']],
      ['key:MY-', ['req_1']],
      ['key:usage', []],
      ['status:200 path:projects', ['req_1']],
    ] as const)
      expect([query, await idsOf(query)]).toEqual([query, ids]);
    expect(await page('/resources?kind=projects&q=created_at')).toContain('No projects match');
    expect(await page('/resources?kind=projects&q=spring')).toContain('Spring');
    // The number of each kind follows the search.
    await api('POST', '/api/v2/audiences/create', { name: 'Other' });
    expect(textOf(await page('/resources?kind=projects&q=created_at'))).toContain('Audiences 0Projects 0');
  });

  it('a create leads to what it created, whose page has its story', async () => {
    const { api, act, createAudience, page, request, sandbox } = await startConsole({
      deliver: async ({ url }) => new Response(null, { status: url.endsWith('/down') ? 500 : 204 }),
    });
    sandbox.webhooks.create({ url: 'https://example.com/up', name: 'Up' });
    sandbox.webhooks.create({ url: 'https://example.com/down', name: 'Down' });
    const id = await createAudience('Families');
    expect(textOf(await page('/requests'))).toContain(`created Families audience ${id}`);
    expect(await page('/requests')).toContain(`href="/resources/${id}"`);
    await sandbox.advance(61_000);
    for (let count = 0; count < 38; count++) await api('GET', `/api/v2/audiences/${id}`);
    await act('POST /api/jobs/finish', { kind: 'audience', id, status: 107, reason: 'Too small.' });
    await sandbox.advance(1_000);
    await api('POST', '/api/v2/activations/create', { audience_id: id });
    const text = textOf(await page(`/resources/${id}`)).replaceAll(/\s+/g, ' ');
    const story = [
      'Needs information: Too small.',
      'JobNeedsInfoError',
      '38 successful polls',
      'POST /api/v2/audiences/create',
      '100 Queued',
      '1 min later',
      '102 Building',
      'ended by you or your program',
      '107 Additional Info',
      'audience.failed to Up',
      'audience.failed to Down',
      '1 attempt failed, next 00:02:01',
      'POST /api/v2/activations/create',
    ];
    let from = 0;
    for (const part of story) {
      const at = text.indexOf(part, from);
      expect([part, at >= from]).toEqual([part, true]);
      from = at;
    }
    // From everywhere: the request, its delivery, the search.
    expect(await page('/requests/req_1')).toContain(`href="/resources/${id}"`);
    const { eventId, endpointId } = sandbox.webhooks.deliveries[0] ?? {};
    expect(await page(`/deliveries?event=${eventId}&to=${endpointId}`)).toContain(
      `href="/resources/${id}" title="Families"`,
    );
    expect((await request(`/find?q=${id}`)).headers.get('location')).toBe(`/resources/${id}`);
    expect((await request('/resources/999')).status).toBe(404);
    expect((await request('/resources/x')).status).toBe(404);
  });

  it('the page of a resource has its relations in both directions, its results and its JSON as GET returns it', async () => {
    const { api, account, createAudience, page, request, sandbox } = await startConsole();
    const create = async (path: string, body: object): Promise<number> =>
      (await (await api('POST', `/api/v2/${path}/create`, body)).json()).data[0].id;
    const cohort = await create('cohorts', { name: 'Loyal' });
    await sandbox.advance(600_000);
    const audience = await create('audiences', { name: 'Buyers', cohort_id: cohort });
    await sandbox.advance(600_000);
    const lookalike = await create('lookalikes', { source_audience_id: audience, config: { target_size: 1_000 } });
    const activation = await create('activations', { description: 'Push', audience_id: audience });
    const other = await createAudience('Unrelated');
    const linksOf = async (id: number) => {
      const [, tree = ''] = (await page(`/resources/${id}`)).split('class="tree"');
      return [...(tree.split('</section>')[0] ?? '').matchAll(/href="\/resources\/(\d+)"/g)].map(([, one]) =>
        Number(one),
      );
    };
    expect(await linksOf(cohort)).toEqual([audience, lookalike, activation]);
    expect(await linksOf(audience)).toEqual([cohort, lookalike, activation]);
    expect(await linksOf(activation)).toEqual([cohort, audience]);
    // Each is below what it was made of.
    expect(await page(`/resources/${activation}`)).toMatch(
      /Loyal(?:(?!<\/li>).)*<ul><li>(?:(?!<\/li>).)*Buyers(?:(?!<\/li>).)*<ul><li>.*Push/s,
    );
    expect(await linksOf(other)).toEqual([]);
    expect(textOf(await page(`/resources/${activation}`))).toContain(
      'can be downloaded once the activation is completed.',
    );

    await sandbox.advance(600_000);
    const text = await page(`/resources/${activation}`);
    const [, file = ''] = /href="(\/results\/[^"]+)" download/.exec(text) ?? [];
    const results = await (await request(file)).text();
    const { data } = await (await api('GET', `/api/v2/activations/${activation}`)).json();
    const own = await sandbox.fetch(data[0].datastreams[0].results.uri);
    expect(results).toBe(await own.text());
    expect((await request(`/results/${activation}/other.csv`)).status).toBe(404);
    expect(textOf(text)).toContain('returns now (signatures of links are hidden)');
    // The signature with which anybody can read the file is on no page.
    expect(text).not.toContain(new URL(data[0].datastreams[0].results.uri).searchParams.get('signature'));
    for (const [id, path] of [
      [audience, 'audiences'],
      [cohort, 'cohorts'],
    ] as const) {
      const [, shown = ''] = /id="json-text"[^>]*>(.*?)<\/pre>/s.exec(await page(`/resources/${id}`)) ?? [];
      expect(JSON.parse(textOf(shown))).toEqual(await (await api('GET', `/api/v2/${path}/${id}`)).json());
    }
    expect(await page(`/resources/${audience}`)).toContain(`client.audiences.get(${audience});`);
    expect(await page(`/resources/${audience}`)).toContain(
      `of <a href="/accounts?account=${encodeURIComponent(account.email)}"`,
    );
  });

  it('the page of a resource draws its job, polls and deliveries to scale, and what is planned', async () => {
    const { api, createAudience, page, sandbox } = await startConsole({
      deliver: async () => new Response(null, { status: 500 }),
    });
    sandbox.webhooks.create({ url: 'https://example.com/', name: 'Down' });
    const id = await createAudience();
    await sandbox.advance(60_000);
    for (let count = 0; count < 3; count++) await api('GET', `/api/v2/audiences/${id}`);
    const chart = async (path: string) => (await page(path)).split('id="chart"')[1]?.split('</section>\n')[0] ?? '';
    const xs = (text: string, style: string) =>
      [...text.matchAll(new RegExp(`class="${style}" x="([\\d.]+)%"[^>]*?width="([\\d.]+)%"`, 'g'))].map(
        ([, x, width]) => [Number(x), Number(width)],
      );
    const running = await chart(`/resources/${id}`);
    // One of ten minutes has passed, nine are planned; 8 % of the width are margins.
    expect(xs(running, 'busy span')).toEqual([
      [4, 9.2],
      [13.2, 0.3],
    ]);
    expect(xs(running, 'busy later')).toEqual([[13.2, 82.8]]);
    expect(textOf(running)).toContain(
      '3 from 1 Jan, 00:01:00 to 1 Jan, 00:01:00 (3 succeeded), among them: 00:01:00: 200',
    );
    expect(textOf(running)).toContain('ends in 9 min');
    sandbox.jobs.finish('audience', id, 104);
    await sandbox.advance(9 * 3_600_000);
    const ended = await chart(`/resources/${id}`);
    expect(textOf(ended)).toContain('104 Completed after 1 min');
    expect(ended).toContain('aria-label="6 attempts failed, gave up"');
    expect(ended).toContain('Attempt 6 at 08:32:00: 500');
    expect(textOf(ended)).toMatch(/All 9 h.*Build 1 min/);
    expect(await chart(`/resources/${id}?span=build`)).not.toContain('Attempt 6');
  });

  it('whatever names a resource links to its page: requests, what is due, and jobs', async () => {
    const { api, createAudience, page } = await startConsole();
    const id = await createAudience('Families');
    await api('GET', `/api/v2/audiences/${id}`);
    const link = `href="/resources/${id}"`;
    for (const path of ['/requests/req_2', '/clock', '/jobs', '/resources'])
      expect([path, await page(path)]).toEqual([path, expect.stringContaining(link)]);
    expect(textOf(await page('/clock'))).toContain(`Ends at 104 Completed: audience ${id} “Families”`);
  });

  it('the page of a resource says whether its job was ended, or cancelled by a request', async () => {
    const { api, createAudience, page, sandbox } = await startConsole();
    const id = await createAudience();
    sandbox.jobs.finish('audience', id, 104);
    expect(await page(`/resources/${id}`)).toContain('ended by you or your program');
    const seed = await createAudience();
    sandbox.jobs.finish('audience', seed, 104);
    const body = { source_audience_id: seed, config: { target_size: 1_000 } };
    const created = await (await api('POST', '/api/v2/lookalikes/create', body)).json();
    const [lookalike] = created.data;
    await api('POST', `/api/v2/lookalikes/${lookalike?.id}/cancel`);
    expect(await page(`/resources/${lookalike?.id}`)).toContain('cancelled');
  });

  it('a request has the same time on each page, however long it took', async () => {
    const { createAudience, page } = await startConsole({ clock: { speed: 100_000 } });
    const id = await createAudience();
    const timeOn = async (path: string) => {
      const [before = ''] = (await page(path)).split('/audiences/create');
      return /.*datetime="([^"]+)"/s.exec(before)?.[1];
    };
    const time = await timeOn('/requests');
    expect(time).toBeDefined();
    expect(await timeOn(`/resources/${id}`)).toBe(time);
  });

  it('also while the clock runs, a story begins with the create, and times have no parts of milliseconds', async () => {
    const { act, createAudience, page, sandbox } = await startConsole({ clock: 'real' });
    sandbox.webhooks.create({ url: 'https://example.com/' });
    const id = await createAudience();
    sandbox.jobs.finish('audience', id, 104);
    await act('POST /api/clock/advance', { ms: 86_400_000 });
    const [, text = ''] = textOf(await page(`/resources/${id}`)).split('What happened');
    const story = ['/create', '100 Queued', '104 Completed', 'audience.completed to'].map((part) => text.indexOf(part));
    expect(story).toEqual(story.toSorted((a, b) => a - b));
    expect(text).not.toMatch(/\d\.\d+ ms/);
  });

  it('a job offers only the statuses with which its kind can end', async () => {
    const { api, page, act, createAudience } = await startConsole();
    await createAudience();
    await api('POST', '/api/v2/cohorts/create', { name: 'x' });
    const text = await page('/jobs');
    const statuses = [...text.matchAll(/<select name="status".*?<\/select>/gs)].map(([list]) =>
      [...list.matchAll(/value="(\d+)"/g)].map(([, status]) => Number(status)),
    );
    expect(statuses).toEqual([
      [104, 107, 400, 404, 422, 499],
      [4, 5],
    ]);
    for (const kind of ['audience', 'lookalike', 'estimate', 'activation', 'cohort'])
      for (const status of statuses[0] ?? [])
        expect((await act('POST /api/jobs/next', { kind, status })).status).toBe(200);
    for (const status of statuses[1] ?? [])
      expect((await act('POST /api/jobs/next', { kind: 'cohort', status })).status).toBe(200);
  });

  it('jobs are listed with the newest first', async () => {
    const { createAudience, page } = await startConsole();
    const ids = [await createAudience(), await createAudience(), await createAudience()];
    const rows = [...(await page('/jobs')).matchAll(/class="name" href="\/resources\/(\d+)"/g)].map(([, id]) =>
      Number(id),
    );
    expect(rows).toEqual(ids.reverse());
  });

  it('a tab lists what has failed: it has used up its attempts, or its endpoint is paused', async () => {
    const { page, sandbox } = await startConsole({ deliver: async () => new Response(null, { status: 500 }) });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
    sandbox.webhooks.test(id);
    await sandbox.advance(0);
    sandbox.webhooks.pause(id);
    expect(textOf(await page('/deliveries'))).toMatch(/Failing 0Gave up 1.*gave up/s);
    const { eventId } = sandbox.webhooks.deliveries[0] ?? {};
    expect(textOf(await page(`/deliveries?event=${eventId}&to=${id}`))).toContain(
      '1 attempt failed, gave up because the endpoint is paused.',
    );
    sandbox.webhooks.resume(id);
    sandbox.webhooks.test(id);
    await sandbox.advance(9 * 3_600_000);
    expect(textOf(await page('/deliveries'))).toContain('Gave up 2');
    expect(textOf(await page('/deliveries?q=no-such-endpoint'))).toMatch(/All 0.*Gave up 0/s);
  });

  it('a list of deliveries shows the ids of the resources, whose names may be the same', async () => {
    const { createAudience, page, sandbox } = await startConsole();
    sandbox.webhooks.create({ url: 'https://example.com/' });
    for (const id of [await createAudience(), await createAudience()]) sandbox.jobs.finish('audience', id, 104);
    await sandbox.advance(0);
    expect(textOf(await page('/deliveries'))).toMatch(
      /Events to endpoints.*completed of Visitors 6.*completed of Visitors 5/s,
    );
  });

  it('the page of a resource shows the deliveries of all its relations', async () => {
    const { api, createAudience, page, sandbox } = await startConsole();
    sandbox.webhooks.create({ url: 'https://example.com/' });
    const seed = await createAudience();
    sandbox.jobs.finish('audience', seed, 104);
    const body = { source_audience_id: seed, config: { target_size: 1_000 } };
    const { data } = await (await api('POST', '/api/v2/lookalikes/create', body)).json();
    sandbox.jobs.finish('lookalike', data[0].id, 400);
    await sandbox.advance(0);
    for (const id of [seed, data[0].id]) {
      const [relations = ''] =
        textOf(await page(`/resources/${id}`))
          .split('Relations')[1]
          ?.split('What happened') ?? [];
      expect(relations).toMatch(/audience\.completed to Webhook.*audience\.failed to Webhook/s);
    }
  });

  it('the list of fault rules shows the rate as its form and the API do', async () => {
    const { page, sandbox } = await startConsole();
    sandbox.faults.add({ on: 'usage.get', status: 503, rate: 0.25 });
    expect(textOf(await page('/faults'))).toMatch(/Rate.*503.*0\.25.*Rate, 0 to 1/s);
  });

  it('an open delivery stays in the list when a redelivery changes its state', async () => {
    let status = 500;
    const { act, page, sandbox } = await startConsole({ deliver: async () => new Response(null, { status }) });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
    sandbox.webhooks.test(id);
    await sandbox.advance(9 * 3_600_000);
    const event = sandbox.webhooks.deliveries[0]?.eventId;
    const open = `/deliveries?state=failed&event=${event}&to=${id}`;
    expect(textOf(await page(open))).toContain('6 attempts failed, gave up.');
    status = 200;
    await act('POST /api/webhooks/redeliver', { event });
    await sandbox.advance(0);
    expect(textOf(await page(open))).toMatch(/Gave up 0.*6 attempts failed, then delivered\./s);
  });

  it.each([
    ['timeout', () => new Promise<Response>(() => {})],
    ['no connection', () => Promise.reject(new TypeError('x', { cause: { code: 'ECONNREFUSED' } }))],
    ['no response', () => Promise.reject(new TypeError('ECONNREFUSED did not come in time'))],
  ])('a delivery without a response shows why, whatever its error says: %s', async (text, deliver) => {
    const limits = text === 'timeout' ? { deliveryTimeout: 20 } : {};
    const { page, sandbox } = await startConsole({ deliver, limits });
    sandbox.webhooks.test(sandbox.webhooks.create({ url: 'https://example.com/' }).id);
    await sandbox.advance(0);
    expect(await page('/deliveries')).toContain(`<span class="badge bad">${text}</span>`);
  });

  it('a list is its own operation, not a read of "index"', async () => {
    const { api, page } = await startConsole();
    await api('GET', '/api/v2/audiences/index');
    const text = textOf(await page('/requests/req_1'));
    expect(text).toContain('Operationaudiences.list');
  });

  it('the heading of a request does not contain its query', async () => {
    const { api, page } = await startConsole();
    await api('GET', '/api/v2/audiences/index?page=2&api_key=canary');
    const text = await page('/requests/req_1');
    expect(text).toContain('<h1 tabindex="-1">GET <bdi>/api/v2/audiences/index</bdi></h1>');
    expect(textOf(text)).toContain('Query?page=2&api_key=…');
  });

  it('the first step has both variables, and no token', async () => {
    const { page, token } = await startConsole();
    const text = textOf(await page('/start'));
    // `npx aud` would find another package where this one is not installed.
    expect(text).toMatch(/export AUDIENCE_BASE_URL=.*export AUDIENCE_TOKEN=.*npm install audience-activation/s);
    expect(text).not.toContain(token);
  });

  it('commands have the address of the sandbox, because several may run', async () => {
    const { page } = await startConsole();
    for (const path of ['/faults', '/resources', '/jobs', '/requests', '/start']) {
      // The first command of a beginner follows its variables.
      const text = textOf(await page(path)).replace('npx aud audiences create --name Visitors --wait', '');
      expect(text.match(/.*npx aud/g) ?? []).toEqual(text.match(/.*AUDIENCE_BASE_URL=https?:\S+ npx aud/g) ?? []);
    }
  });

  it('Find opens what has an id, and no other origin', async () => {
    const { api, createAudience, request, sandbox } = await startConsole();
    await api('GET', '/api/v2/usage', undefined, { 'idempotency-key': 'my-key' });
    for (let count = 0; count < 2; count++) await api('GET', '/api/v2/audiences/index');
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
    sandbox.webhooks.test(id);
    await sandbox.advance(0);
    const event = sandbox.webhooks.deliveries[0]?.eventId;
    const audience = await createAudience();
    for (const [query, location] of [
      ['req_1', '/requests/req_1'],
      [`Audience ${audience}`, `/resources/${audience}`],
      [`${audience}`, `/resources/${audience}`],
      [`cohort ${audience}`, null],
      [event, `/deliveries?event=${event}&to=${id}#detail`],
      ['my-key', '/requests/req_1'],
      ['audiences', '/requests?q=audiences'],
      ['', '/requests'],
      ['//evil.example', null],
    ]) {
      const response = await request(`/find?q=${encodeURIComponent(query ?? '')}`);
      expect([response.status, response.headers.get('location')]).toEqual([location === null ? 200 : 302, location]);
    }
  });

  it('show a request with the reason of its refusal, and as curl without its token', async () => {
    const { api, page, token, sandbox } = await startConsole({ limits: { buildsPerHour: 1 } });
    await api('POST', '/api/v2/audiences/create', { name: "It's" });
    await api('POST', '/api/v2/audiences/create', { name: "It's" }, { 'idempotency-key': 'k' });
    const text = textOf(await page(`/requests/${sandbox.log[1]?.id}`));
    expect(text).toContain(
      'Refused: the build budget is used up (1 of 1 used in an hour, 1 of 300 in a day). There is room again in 1 h, at 01:00:00.',
    );
    expect(text).toContain('Advance the clock by 1 h');
    expect(text).toContain('BuildBudgetError');
    expect(text).toContain('2 of 30');
    expect(text).toContain("curl --globoff 'http://localhost/api/v2/audiences/create'");
    expect(text).toContain(`--data-raw '{"name":"It'\\''s"}'`);
    expect(text).toContain(`-H 'authorization: Bearer '"$AUDIENCE_TOKEN"`);
    expect(text).toContain('Idempotency keyk');
    expect(text).toContain('retry-after3600');
    expect(text).not.toContain(token);
    expect(text).not.toContain(token.split('|')[1]);
  });

  it('passwords, codes and tokens of a body or an address are never shown', async () => {
    const { api, act, page, sandbox } = await startConsole();
    await api('POST', '/api/v2/auth/login', credentials);
    const form =
      'grant_type=refresh_token&refresh_token=rt_canary1&client_secret=canary2&code=canary3&code_verifier=canary4';
    const headers = { 'content-type': 'application/x-www-form-urlencoded', authorization: 'Basic Y2FuYXJ5NTo=' };
    await sandbox.fetch('http://localhost/oauth/token', { method: 'POST', headers, body: form });
    const reserved = await api('POST', '/api/v2/uploads/create', { kind: 'cohort' });
    const { url } = (await reserved.json()).data;
    await sandbox.fetch(url, { method: 'PUT', body: 'y' });
    const login = await (await api('POST', '/api/v2/auth/login', credentials)).json();
    await sandbox.fetch('https://storage.sandbox.invalid/uploads/x?signature=canary6', { method: 'PUT', body: 'y' });
    await act('POST /api/password', { password: 'canary7' });
    await act('POST /api/accounts', { email: 'bo@example.com', password: 'canary8' });
    const paths = ['/requests', '/session', ...sandbox.log.map(({ id }) => `/requests/${id}`)];
    const text = (await Promise.all(paths.map((path) => page(path)))).join('');
    expect(text).not.toMatch(/canary|Y2FuYXJ5/);
    expect(text).not.toContain(credentials.password);
    expect(text).not.toContain(new URL(url).searchParams.get('signature'));
    expect(text).not.toContain(login.data.token);
    expect(text).toContain('Token generated successfully.');
    expect(text).toContain('grant_type=refresh_token');
    expect(await page('/recording.test.ts')).toContain('contains the tokens, passwords and secrets of the sandbox');
  });

  it.each([
    ['\n {"password":"canary"}', 'application/json'],
    ['\ufeff{"password":"canary"}', 'application/json'],
    ['[{"password":"canary"}]', 'application/json'],
    ['{"password":"canary",}', 'application/json'],
    ['{"password":["canary"],"more":{"Token":{"a":"canary"}}}', 'application/json'],
    ['{"email":"x","password":"canary', 'application/json'],
    ['client_secret=canary&code=canary', 'text/plain'],
    [
      '--b\r\ncontent-disposition: form-data; name="password"\r\n\r\ncanary\r\n--b--',
      'multipart/form-data; boundary=b',
    ],
    [`${'['.repeat(600)}"canary_not"`, 'application/json'],
  ])('a password in %j is not shown', async (body, type) => {
    const { sandbox, page } = await startConsole();
    const headers = { 'content-type': type, accept: 'application/json', 'x-api-key': 'canary' };
    await sandbox.fetch('http://localhost/api/v2/auth/login', { method: 'POST', headers, body });
    const text = await page(`/requests/${sandbox.log[0]?.id}`);
    expect(text).toContain('Body, ');
    expect(text).not.toMatch(/canary(?!_not)/);
  });

  it.each([
    ['GET', '/api/v2/audiences/index', {}, 'after', undefined],
    ['POST', '/api/v2/projects/create', {}, 'before', 'Nothing was created.'],
    ['POST', '/api/v2/projects/create', {}, 'after', 'repeating the request creates another resource.'],
    [
      'POST',
      '/api/v2/projects/create',
      { 'idempotency-key': 'k' },
      'after',
      'the response contains the created resource.',
    ],
    [
      'POST',
      '/api/v2/audiences/create',
      { 'idempotency-key': 'k' },
      'after',
      'refused the request, and created nothing.',
    ],
  ] as const)('a cut response says what has happened: %s %s %j %s', async (method, path, headers, cut, text) => {
    const { api, page, sandbox } = await startConsole();
    sandbox.faults.add({ cut });
    await api(
      method,
      path,
      method === 'GET' ? undefined : { project_id: path.includes('audiences') ? 77 : undefined },
      headers,
    ).catch(() => {});
    const shown = textOf(await page('/requests/req_1'));
    expect(shown).toContain(
      'The client of this package sends the request again if that is safe, or throws a ConnectionError',
    );
    expect(shown.includes("with outcome: 'unknown'")).toBe(text !== undefined);
    expect(shown).toContain(text ?? 'ConnectionError.');
  });

  it('only errors of creates have an outcome', async () => {
    const { api, page } = await startConsole();
    await api('GET', '/api/v2/audiences/99');
    expect(textOf(await page('/requests/req_1'))).toContain('The client of this package throws a NotFoundError.');
  });

  it.each([{ malformed: true }, { cut: 'body' }] as const)('half of a response is a failure: %j', async (rule) => {
    const { api, page, sandbox } = await startConsole();
    sandbox.faults.add({ ...rule, times: 1 });
    await api('GET', '/api/v2/audiences/index').catch(() => {});
    expect(sandbox.log[0]).toMatchObject({ status: 200 });
    const text = textOf(await page('/requests/req_1'));
    expect(text).toContain('Failed: your client received half of the body.');
    expect(text).not.toContain('Accepted');
    expect(textOf(await page('/requests'))).toMatch(/Failed 1.*Fault: (?:half of the response|cut body)/s);
  });

  it('a secret in half of a response is not shown', async () => {
    const { api, page, sandbox } = await startConsole();
    sandbox.faults.add({ malformed: true });
    const body = { redirect_uris: ['http://127.0.0.1:1/callback', 'http://127.0.0.1:2/callback'] };
    const response = await (await api('POST', '/oauth/register', body)).text();
    const [, secret = ''] = /"client_secret":"([^"]{8,})/.exec(response) ?? [];
    expect([response, secret.length > 0]).toEqual([response, true]);
    expect(await page(`/requests/${sandbox.log[0]?.id}`)).not.toContain(secret);
  });

  it('the details of requests are bounded by their bytes', async () => {
    const { api, page, sandbox } = await startConsole();
    await api('POST', '/api/v2/projects/create', { name: 'the-name' }, { 'idempotency-key': 'the-first' });
    expect(textOf(await page('/requests?q=the-name'))).not.toContain('are not kept');
    for (let count = 0; count < 20; count++)
      await api('POST', '/api/v2/projects/create', { name: 'x'.repeat(900_000) });
    const [first, last] = [sandbox.log[0]?.id, sandbox.log.at(-1)?.id];
    expect(await page(`/requests/${first}`)).toContain('The details of this request are not kept');
    // What it is found by stays: its key, its name and what it has created; a search says what it could not look into.
    const { id } = (await (await api('GET', '/api/v2/projects/index')).json()).data.at(-1);
    for (const query of ['key:the-first', 'the-name', `${id}`, `id:${id}`]) {
      const found = await page(`/requests?q=${query}`);
      expect([query, found]).toEqual([query, expect.stringContaining(`href="/requests/${first}"`)]);
      expect(textOf(found)).toMatch(/The bodies of \d+ requests? are not kept/);
    }
    expect(textOf(await page('/requests'))).not.toContain('are not kept');
    expect(await page(`/requests/${last}`)).toContain('id="curl"');
  });

  it('a search finds requests by key, name, created id and what they named after a state was loaded', async () => {
    const { act, api, page, sandbox, createAudience } = await startConsole();
    await api('POST', '/api/v2/projects/create', { name: 'Spring' }, { 'idempotency-key': 'key-of-spring' });
    await api('POST', '/api/v2/projects/create', { name: 'Other' }, { 'idempotency-key': 'key-of-spring' });
    const seed = await createAudience();
    sandbox.jobs.finish('audience', seed, 104);
    await api('POST', '/api/v2/activations/create', { audience_id: seed });
    const state = sandbox.save();
    const [created, , , activation] = sandbox.log;
    await act('POST /api/state', state);
    const idsOf = async (query: string) =>
      [...(await page(`/requests?repeats=all&q=${query}`)).matchAll(/<a href="\/requests\/(req_\w+)"/g)].map(
        ([, id]) => id,
      );
    expect(await idsOf('key:key-of-spring')).toEqual(['req_2', 'req_1']);
    expect(await idsOf('spring')).toEqual(['req_2', 'req_1']);
    expect(await idsOf('other')).toEqual(['req_2']);
    expect(await idsOf(`id:${created?.createdId}`)).toEqual(['req_1']);
    expect(await idsOf(`id:${seed}`)).toEqual([activation?.id, 'req_3']);
    expect(await idsOf('id:req_2')).toEqual(['req_2']);
    expect(textOf(await page('/requests?q=spring'))).toContain('The bodies of 4 requests are not kept');
    expect(textOf(await page('/requests'))).toMatch(/“Other”: .*created Spring/s);
    expect(await page('/requests/req_1')).toContain('The details of this request are not kept');
  });

  it('bodies of reads are dropped before the details of any write', async () => {
    const { api, page } = await startConsole({ limits: { read: { limit: 1e6, interval: 1 } } });
    await api('POST', '/api/v2/projects/create', { name: 'Kept' });
    for (let count = 0; count < 5; count++) await api('POST', '/api/v2/projects/create', { name: 'x'.repeat(900_000) });
    for (let count = 0; count < 3; count++) await api('GET', '/api/v2/projects/index');
    expect(await page('/requests/req_1')).toContain('id="curl"');
    expect(textOf(await page('/requests/req_7'))).toContain('There is no body, or it is not kept.');
    expect(await page('/requests?q=kept')).toContain('href="/requests/req_1"');
  });

  it('the clock draws what has happened and what is due to scale, and leaves out nothing', async () => {
    const { act, createAudience, page, sandbox } = await startConsole({
      limits: { write: { limit: 1e6, interval: 1 }, buildsPerHour: 1e6, buildsPerDay: 1e6 },
      // Each ends in another minute: those with the ids 4 to 93, and the last one a day later.
      jobs: { duration: ({ id }) => (id === 94 ? 86_400_000 : id * 60_000) },
      deliver: async () => new Response(null, { status: 500 }),
    });
    for (let count = 0; count < 91; count++) await createAudience();
    sandbox.jobs.next('audience', 107);
    await act('POST /api/clock/mode', { speed: 60 });
    await act('POST /api/clock/mode', { mode: 'manual' });
    await act('POST /api/clock/advance', { ms: 3 * 3_600_000 });
    sandbox.webhooks.test(sandbox.webhooks.create({ url: 'https://example.com/', name: 'Down' }).id);
    await sandbox.advance(0);
    const chart = async (query = '') =>
      (await page(`/clock${query}`)).split('id="chart"')[1]?.split('</section></section>')[0] ?? '';
    const text = await chart();
    expect(text).toContain('aria-label="90 jobs ended (90 completed), 1 due"');
    expect(text).toContain('aria-label="1 delivery attempt failed, 1 due"');
    const past = await page('/clock?list=past');
    expect(textOf(past)).toMatch(/Happened 182.*audience 93.*completed.*1–50 of 182/s);
    expect(past).toContain('href="/resources/93"');
    expect(textOf(await page('/clock?list=past&q=reaches+93'))).toContain(
      'Reaches 102 Building: audience 93 “Visitors”done',
    );
    expect(textOf(past)).toContain('Attempt 1 to Down: webhook.test');
    const numbersOf = (shown: string, style: string) =>
      [...shown.matchAll(new RegExp(`class="${style}"[^>]*><title>(?:([\\d,]+) from)?`, 'g'))].map(([, number = 1]) =>
        Number(number),
      );
    expect(numbersOf(text, 'good mark').reduce((sum, number) => sum + number, 0)).toBe(90);
    expect(numbersOf(text, 'bad mark')).toEqual([1]);
    expect(numbersOf(text, 'busy open')).toEqual([1, 1]);
    // Within half an hour around now are the test and its next attempt.
    expect(numbersOf(await chart('?span=hour'), 'good mark')).toEqual([]);
    expect(numbersOf(await chart('?span=hour'), 'busy open')).toEqual([1]);
  });

  it('what was due appears under Happened, also the deletion of an upload', async () => {
    const { act, api, page } = await startConsole();
    await api('POST', '/api/v2/uploads/create', { kind: 'cohort' });
    const [due = ''] = /Upload [^<]* is deleted/.exec(await page('/clock')) ?? [];
    expect((await act('POST /api/clock/next')).data.notice).toMatch(/nothing ended; nothing is due\.$/);
    expect(textOf(await page('/clock?list=past'))).toContain(`${due}done`);
    expect(due).not.toBe('');
  });

  it('a delivery draws its attempts to scale, and the next one', async () => {
    const { page, sandbox } = await startConsole({ deliver: async () => new Response(null, { status: 500 }) });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/', name: 'Down' });
    sandbox.webhooks.test(id);
    await sandbox.advance(60_000);
    const { eventId } = sandbox.webhooks.deliveries[0] ?? {};
    const [, detail = ''] = (await page(`/deliveries?event=${eventId}&to=${id}`)).split('id="detail"');
    expect(detail).toContain('aria-label="2 attempts failed"');
    expect(detail).toMatch(/class="bad mark"[^>]*><title>Attempt 2 at 00:01:00: 500.*class="busy open"/s);
  });

  it('an open delivery says why it stays in a tab, and that its signature has the time of the machine, if that differs', async () => {
    for (const signatureClock of ['sandbox', 'machine'] as const) {
      const { page, sandbox } = await startConsole({ signatureClock });
      const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
      sandbox.webhooks.test(id);
      await sandbox.advance(0);
      const { eventId } = sandbox.webhooks.deliveries[0] ?? {};
      const text = textOf(await page(`/deliveries?state=waiting&event=${eventId}&to=${id}`));
      expect(text).toContain(
        'While this row is open, it stays here even if its state changes. The tab does not count it then.',
      );
      expect(/The signature has the time .+ of the machine's clock \(signatureClock\)\./.test(text)).toBe(
        signatureClock === 'machine',
      );
    }
  });

  it('a limit draws how its window has filled, and how it empties', async () => {
    const { api, page, sandbox } = await startConsole({ limits: { read: { limit: 4, interval: 60_000 } } });
    await api('GET', '/api/v2/usage');
    await sandbox.advance(30_000);
    await api('GET', '/api/v2/usage');
    const text = await page('/limits');
    expect(text).toContain('aria-label="Bucket read, api token 3, ada@example.com: 2 of 4"');
    // The present is in the middle: one request was half a window ago, and leaves in half a window.
    expect(text).toContain('class="edge" d="M0 100H250.0V75.0H500.0V50.0H500"');
    expect(text).toContain('class="edge later" d="M500 50.0H750.0V75.0H1000.0V100.0H1000"');
  });

  it('after a reset to a loaded state, no request is said to be kept', async () => {
    const { act, createAudience, page, sandbox } = await startConsole();
    await createAudience();
    await act('POST /api/state', sandbox.save());
    await act('POST /api/reset');
    expect(textOf(await page('/requests'))).toMatch(/The earlier requests are not kept\..*No requests/s);
  });

  it('an advance reports all events, also those that exceed the log; the pages say how many are kept', async () => {
    const { sandbox, page, act, createAudience } = await startConsole({ limits: { logLength: 5 } });
    for (const name of ['First', 'Second']) sandbox.webhooks.create({ name, url: 'https://receiver.example/events' });
    const id = await createAudience();
    for (let count = 0; count < 5; count++) await createAudience();
    const { data } = await act('POST /api/clock/advance', { ms: 3_600_000 });
    expect(data.notice).toContain('6 jobs ended (6 completed), 12 delivery attempts succeeded');
    // Each job has a step besides its end.
    expect(textOf(await page('/clock'))).toContain('Only the last 5 of 24 events are kept.');
    const kept = 'At most the last 5 delivery attempts are kept.';
    expect(textOf(await page('/deliveries'))).toContain(kept);
    expect(textOf(await page(`/resources/${id}`))).toContain(
      `Only the last 5 of 6 requests are kept. ${kept} The statuses of the job are not kept.`,
    );
  });

  it('a thousand requests are shown fifty at a time, by a cursor, and found by any of their texts', async () => {
    const { api, page, createAudience } = await startConsole({
      limits: { logLength: 1_000, read: { limit: 1e6, interval: 1 } },
    });
    const id = await createAudience();
    await api('GET', `/api/v2/audiences/${id}`);
    for (let count = 0; count < 999; count++) await api('GET', `/api/v2/audiences/index?page=${count + 1}`);
    await api('GET', '/api/v2/audiences/77', undefined, { 'idempotency-key': 'Key-Of-77' });
    const rows = async (path: string) => ((await page(path)).match(/<tr role="row">/g)?.length ?? 1) - 1;
    const text = await page('/requests');
    expect(await rows('/requests')).toBe(50);
    expect(textOf(text)).toContain('1–50 of 1,000');
    expect(textOf(text)).toContain('Only the last 1,000 of 1,002 requests are kept.');
    expect(textOf(await page('/requests/req_2'))).toContain('Only the last 1,000 of 1,002 requests are kept.');
    expect(textOf(await page(`/resources/${id}`))).toContain('Only the last 1,000 of 1,002 requests are kept.');
    expect(text).toContain('href="/requests?from=req_952"');
    expect(textOf(await page('/requests?from=req_952'))).toContain('51–100 of 1,000');
    expect(await page('/requests?from=req_952')).toContain('href="/requests"');
    for (const query of [
      'q=AUDIENCES/77',
      'q=req_1002',
      'q=audience+not+found',
      'q=key-of-77',
      'q=status:404',
      'status=refused',
    ])
      expect([query, await rows(`/requests?${query}`)]).toEqual([query, 1]);
    expect(await rows('/requests?from=req_52')).toBe(50);
    expect(await page('/requests?q=status:5')).toContain('Clear the filter');
    expect(textOf(await page('/requests/req_1003'))).toContain('The console has no page /requests/req_1003.');
  });

  it('an endpoint says what is wrong with it, and its form does not show its credentials', async () => {
    const { page, sandbox } = await startConsole({ deliver: async () => new Response(null, { status: 500 }) });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/?api_key=canary', name: SCRIPT });
    for (let count = 0; count < 19; count++) sandbox.webhooks.test(id);
    await sandbox.advance(9 * 3_600_000);
    expect(textOf(await page('/deliveries'))).toMatch(
      /, the last 19 deliveries or redeliveries gave up \(the service switches the endpoint off after 20\)/,
    );
    sandbox.webhooks.test(id);
    await sandbox.advance(9 * 3_600_000);
    const shown = await page('/deliveries');
    expect(textOf(shown)).toMatch(
      / is switched off.*20 deliveries or redeliveries in a row failed all six attempts.*Resume/s,
    );
    expect(shown).not.toMatch(/canary|<script>|<img/);
  });

  it('text that turns the direction of writing does not turn the words around it', async () => {
    const { act, createAudience, page, sandbox } = await startConsole({
      deliver: async () => new Response(null, { status: 500 }),
    });
    const { data } = await act('POST /api/webhooks', { url: 'https://example.com/', name: 'a\u202Eb' });
    expect(data.notice).toBe('The webhook endpoint ab was created. This is its secret.');
    for (let count = 0; count < 20; count++) sandbox.webhooks.test(data.id);
    await sandbox.advance(9 * 3_600_000);
    expect(await page('/deliveries')).toContain('data-confirm="Delete ab? This cancels');
    const id = await createAudience('a\u202Eb');
    for (const path of [`/resources/${id}`, '/requests/req_1'])
      expect((await page(path)).match(/<pre[^>]*>.*?<\/pre>/gs)?.join('')).toMatch(/^[^\u202E]*a\\u202eb[^\u202E]*$/);
  });

  it('reads that repeat are one row, until another request comes or fails', async () => {
    const { api, page, sandbox } = await startConsole();
    const poll = async (times: number) => {
      for (let count = 0; count < times; count++) await api('GET', '/api/v2/audiences/index?page=1');
    };
    await poll(3);
    await api('GET', '/api/v2/audiences/index?page=2');
    await poll(38);
    sandbox.faults.add({ on: 'audiences.list', status: 503, times: 2 });
    await poll(3);
    const rowsOf = async (path: string) =>
      (await page(path)).split('<tr role="row">').flatMap((row) => {
        const [, id] = /<a href="\/requests\/(req_\w+)"/.exec(row) ?? [];
        return id ? [[id, /× \d+/.exec(row)?.[0], row.includes('(the first at')]] : [];
      });
    expect(await rowsOf('/requests')).toEqual([
      ['req_45', undefined, false],
      ['req_44', undefined, false],
      ['req_43', undefined, false],
      ['req_42', '× 38', true],
      ['req_4', undefined, false],
      ['req_3', '× 3', true],
    ]);
    expect(await rowsOf('/requests?repeats=all')).toHaveLength(45);
    expect(textOf(await page('/requests'))).toMatch(/All 45.*1–6 of 6 rows/s);
  });

  it('refusals of one kind are one row, whatever ids they name, and lead to each of them', async () => {
    const { api, page } = await startConsole();
    for (const path of ['audiences/9001', 'audiences/9002', 'audiences/9003', 'cohorts/9004'])
      await api('GET', `/api/v2/${path}`);
    const text = await page('/requests');
    const rows = textOf(text)
      .split('\n')
      .filter((row) => row.includes('404'));
    expect(rows).toHaveLength(2);
    expect(rows[1]).toContain('× 3');
    const [, all = ''] = /href="([^"]*repeats=all[^"]*)">Show all 3/.exec(text) ?? [];
    const shown = await page(all.replaceAll('&amp;', '&'));
    expect(shown.match(/href="\/requests\/req_[123]"/g)).toHaveLength(3);
  });

  it('the account filter holds for what is due and what has happened', async () => {
    const { act, api, createAudience, page, sandbox } = await startConsole();
    const mine = await createAudience();
    const bo = sandbox.accounts.create({ email: 'bo@example.com', password: 'x', company: 'Other' });
    const authorization = `Bearer ${bo.token('api')}`;
    const created = await api('POST', '/api/v2/audiences/create', {}, { authorization });
    const theirs = (await created.json()).data[0].id;
    const main = async () => (await page('/clock?account=bo@example.com')).split('<main')[1] ?? '';
    const before = await main();
    expect([before.includes(`/resources/${theirs}?`), before.includes(`/resources/${mine}?`)]).toEqual([true, false]);
    await act('POST /api/clock/advance', { ms: 3_600_000 });
    expect(await main()).toContain('aria-label="1 job ended (1 completed)"');
    expect(await page('/clock')).toContain('aria-label="2 jobs ended (2 completed)"');
  });

  it('weigh at most 40 KiB with their assets', async () => {
    const { page, api } = await startConsole();
    for (let count = 0; count < 120; count++) await api('GET', `/api/v2/audiences/${count}`);
    const paths = [...PAGES, '/console.js', '/console.css', '/favicon.ico'];
    const sizes = await Promise.all(paths.map(async (path) => [path, gzipSync(await page(path)).length] as const));
    expect(
      sizes.reduce((sum, [, size]) => sum + size, 0),
      JSON.stringify(sizes),
    ).toBeLessThan(40 * 1024);
  });

  it('the pages show the reason of a 107, which the API does not', async () => {
    const { page, createAudience, sandbox, api } = await startConsole();
    const id = await createAudience();
    sandbox.jobs.finish('audience', id, 107, 'The domain list is empty.');
    expect(await page('/resources')).toContain('The domain list is empty.');
    expect(await (await api('GET', `/api/v2/audiences/${id}`)).text()).not.toContain('domain list');
  });
});

describe('access over HTTP', () => {
  it.each(PAGES)('%s needs the token of the run', async (path) => {
    const { origin, token } = await serveConsole();
    const refused = await fetch(`${origin}${path}`);
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain('Open the address that the sandbox printed');
    expect((await fetch(`${origin}${path}?token=wrong`)).status).toBe(401);
    const opened = await fetch(`${origin}/?token=${token}`);
    const cookie = opened.headers.get('set-cookie') ?? '';
    expect(cookie).toContain('; HttpOnly; SameSite=Strict');
    expect(await opened.text()).toContain('url=/');
    const headers = { cookie: cookie.split(';')[0] ?? '' };
    expect((await fetch(`${origin}${path}`, { headers })).status).toBe(200);
  });

  it('the cookie of the operator contains nothing of the token, and ends when the address is opened again', async () => {
    const { origin, token } = await serveConsole();
    const open = async (cookie = '') => {
      const opened = await fetch(`${origin}/?token=${token}`, { headers: { cookie } });
      return (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    };
    const statusOf = async (cookie: string) => (await fetch(`${origin}/`, { headers: { cookie } })).status;
    const first = await open();
    // Short parts may be there by chance.
    for (const part of token.split('-').filter(({ length }) => length > 4)) expect(first).not.toContain(part);
    expect(await statusOf(first)).toBe(200);
    const second = await open(first);
    expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
  });

  it('every response forbids frames and content from elsewhere', async () => {
    const { origin, token } = await serveConsole();
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ['/', '/nothing', '/api/state', '/api/nothing', '/console.js']) {
      const response = await fetch(`${origin}${path}`, { headers });
      expect(response.headers.get('content-security-policy')).toContain("default-src 'self'; frame-ancestors 'none'");
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('a snippet has the address of the server, whatever the Host of the request was', async () => {
    const { origin, token, url, sandbox } = await serveConsole();
    const { request } = await import('node:http');
    await new Promise((resolve) => {
      const headers = { host: '127.0.0.1:9', 'content-type': 'application/json' };
      const options = { method: 'POST', headers };
      request(`${url}/oauth/register`, options, (response) => resolve(response.resume())).end('@/etc/passwd');
    });
    const page = await fetch(`${origin}/requests/${sandbox.log[0]?.id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const text = textOf(await page.text());
    expect(text).toContain(`curl --globoff '${url}/oauth/register'`);
    expect(text).toContain("--data-raw '@/etc/passwd'");
  });

  it('the stream reports changes, several as one, and ends with the sandbox', async () => {
    const { origin, token, sandbox } = await serveConsole();
    const response = await fetch(`${origin}/events`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = response.body?.getReader();
    const next = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect(await next()).toBe(':\n\n');
    for (let count = 0; count < 50; count++) await sandbox.fetch('http://localhost/api/v2/usage');
    expect(await next()).toBe('event: change\ndata:\n\n');
    const ended = reader?.read();
    await sandbox.close();
    await expect(ended).rejects.toThrow();
    expect((await fetch(`${origin}/events`).catch(() => undefined))?.status).toBeUndefined();
  });
});

describe('the recording', () => {
  it('is a test with the state, the times, the actions and the options', async () => {
    const { api, act, page, token, sandbox } = await startConsole({ jobs: { duration: 60_000 }, seed: 7 });
    const { id } = (await act('POST /api/webhooks', { url: 'https://example.com/' })).data;
    await api('POST', '/api/v2/audiences/create', { name: 'x' });
    await sandbox.advance(1_500);
    await act('POST /api/webhooks/test', { id });
    await sandbox.advance(0);
    await act('POST /api/clock/mode', { mode: 'manual' });
    const source = await page('/recording.test.ts');
    expect(source).toContain('jobs: { duration: 60000 },');
    expect(source).toMatch(
      /receivers: Record<string, number\[\]> = \{ 'https:\/\/example\.com\/ evt_\w+': \[200\] \};/,
    );
    expect(source).toContain(`const authorization1 = 'Bearer ${token}';`);
    expect(source).toContain("  expect(await send('http://localhost/api/v2/audiences/create', {");
    expect(source).toContain('  await sandbox.advance(1500);\n');
    expect(source).toContain(`  await at(1500);\n  sandbox.webhooks.test(${id});\n`);
    expect(source).not.toContain('setClock');
    expect(textOf(await page('/session'))).toMatch(/5 steps.*requests and calls since then, except sandbox\.setClock/s);
    expect(source.match(/await at\(/g)).toHaveLength(2);
  });

  it('begins again with the present state', async () => {
    const { act, api, page, createAudience } = await startConsole();
    await createAudience();
    await act('POST /api/recording/restart');
    expect(await page('/session')).toContain('0 steps');
    await api('GET', '/api/v2/usage');
    const source = await page('/recording.test.ts');
    expect(source.match(/expect\(await send/g)).toHaveLength(1);
    expect(source).toContain('Visitors');
  });

  it('ends with a request if that is exported', async () => {
    const { api, page, createAudience } = await startConsole();
    await createAudience();
    await api('GET', '/api/v2/usage');
    const export1 = '/recording.test.ts?until=req_1';
    expect(await page('/requests/req_1')).toContain(`href="${export1}"`);
    expect((await page(export1)).match(/expect\(await send/g)).toHaveLength(1);
    expect((await page('/recording.test.ts')).match(/expect\(await send/g)).toHaveLength(2);
  });

  it('stops when it is full, and reports that', async () => {
    const { api, page } = await startConsole({ limits: { write: { limit: 1e6, interval: 1 } } });
    const name = 'x'.repeat(60_000);
    for (let count = 0; count < 290; count++) await api('POST', '/api/v2/projects/create', { name });
    expect(await page('/session')).toContain('Full: restart the recording');
  });
});
