// A recorded session. It contains the tokens, passwords and secrets of the sandbox.
import { createSandbox } from 'audience-activation/sandbox';
import { expect, test } from 'vitest';

test('the session of 2026-11-29T20:35:43.376Z', { timeout: 120_000 }, async () => {
  /** Statuses of the receivers of webhooks, by URL and event; 0 for no response. */
  const receivers: Record<string, number[]> = {};
  const sandbox = createSandbox({
    state,
    clock: 'manual',
    jobs: { duration: 30000, devices: 5000 },
    limits: { write: { limit: 12, interval: 60000 } },
    async deliver(request) {
      const { id } = await request.json();
      const status = receivers[`${request.url} ${id}`]?.shift() ?? 204;
      if (status === 0) throw new Error('no response');
      return new Response(null, { status });
    },
  });
  const authorization1 = 'Bearer 4|utRgayCZZVoRTW6gaan26zNfw0XSBgZy5gOKvQ9c';
  const start = sandbox.now();
  /** Moves the clock to a time, in milliseconds since the start. */
  const at = (ms: number) => sandbox.advance(Math.max(0, start + ms - sandbox.now()));
  /** Sends a request; returns its status, 0 if the connection is cut. */
  const send = async (url: string, init: RequestInit) => {
    const response = await sandbox.fetch(url, { redirect: 'manual', ...init }).catch(() => undefined);
    return response?.status ?? 0;
  };
  /** Resolves when the requests that were sent have begun. */
  const begun = () => new Promise((resolve) => setTimeout(resolve, 5));
  /** Returns a file of a size and a number of lines. */
  const file = (size: number, lines: number) => new Blob(['x'.repeat(size - lines), '\n'.repeat(lines)]);

  await at(2.826);
  sandbox.accounts.get('ada@example.com').token('api');
  await at(4.613);
  sandbox.faults.add({ times: 1, on: 'audiences.create', cut: 'before' });
  await at(13.489);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '2c6ec09b-db65-47f2-92a1-9de395b23339', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"cut\\":\\"before\\"}"}' })).toBe(0);
  await at(20.732);
  sandbox.faults.add({ times: 1, on: 'audiences.create', cut: 'after' });
  await at(24.972);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '698e7507-4b5c-4737-b57c-7cdbe4fa9cc5', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"cut\\":\\"after\\"}"}' })).toBe(0);
  await at(32.878);
  sandbox.faults.add({ times: 1, on: 'audiences.create', cut: 'body' });
  await at(37.012);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '5777658b-81ae-4938-99de-e0df140b14f2', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"cut\\":\\"body\\"}"}' })).toBe(200);
  await at(47.025);
  sandbox.faults.add({ times: 1, on: 'audiences.create', malformed: true });
  await at(50.079);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '4d970180-0fa2-4dea-9255-1d1148491817', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"malformed\\":true}"}' })).toBe(200);
  await at(55.427);
  sandbox.faults.add({ times: 1, on: 'audiences.create', status: 503, retryAfter: 1 });
  await at(59.328);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '3355d05b-8e5f-4782-8426-a6e90ea90d27', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"status\\":503,\\"retryAfter\\":1}"}' })).toBe(503);
  await at(66.321);
  sandbox.faults.add({ times: 1, on: 'audiences.create', delay: 20 });
  await at(69.269);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'c8e3c499-4669-45ba-bb85-d17bbac4a3f2', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"delay\\":20}"}' })).toBe(200);
  await at(117.602);
  sandbox.faults.add({ times: 1, on: 'audiences.create', delay: 20, cut: 'after' });
  await at(121.429);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '925c7ac2-545c-4379-a20e-3fa9275bf4b0', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"delay\\":20,\\"cut\\":\\"after\\"}"}' })).toBe(0);
  await at(174.159);
  sandbox.faults.add({ times: 1, on: 'audiences.create', inFlight: 20, cut: 'after' });
  await at(177.267);
  expect(await send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '4ac1a793-fc0a-4caa-8537-e23665e93151', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"inFlight\\":20,\\"cut\\":\\"after\\"}"}' })).toBe(0);
  await at(226.618);
  sandbox.faults.add({ delay: 60000, on: 'usage.get', times: 1 });
  await at(234.559);
  expect(await send('http://127.0.0.1:41595/api/v2/usage?yearmonth=2026-11', { signal: AbortSignal.timeout(12), headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(0);
  await at(279.536);
  expect(await send('http://127.0.0.1:41595/api/v2/usage', { headers: { accept: 'text/html' } })).toBe(406);
  await at(285.418);
  sandbox.faults.remove(9);
  await at(285.627);
  sandbox.faults.add({ inFlight: 60000, on: 'audiences.create', times: 1 });
  await at(293.856);
  const request23 = send('http://127.0.0.1:41595/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'held', pragma: 'no-cache' }, body: '{"name":"A"}' });
  await begun();
  await at(313.803);
  expect(await send('http://127.0.0.1:41595/api/v2/usage', { headers: { accept: 'text/html' } })).toBe(406);
  await at(316.462);
  sandbox.faults.remove(10);
  await at(320.25);
  expect(await request23).toBe(200);
  await sandbox.close();
});

const state = JSON.parse('{"version":1,"seed":3,"now":"2026-11-29T20:35:43.376Z","data":[{"now":1,"state":2,"tasks":58,"nextOrder":37,"jobs":59,"attempts":63,"random":64},1795984543376.9949,{"accounts":3,"companies":48,"tokens":49,"addressBuckets":50,"uploads":51,"results":52,"oauthClients":53,"authorizationCodes":54,"grants":55,"log":56,"requestCount":37,"nextId":57},["Map",4,5],"ada@example.com",{"id":6,"email":4,"password":7,"company":8,"notifications":38,"deliveryCredentials":33,"audiences":39,"estimates":40,"activations":41,"cohorts":42,"projects":43,"schedules":44,"poiSubmissions":45,"definitions":46,"idempotencyKeys":47},1,"correct horse",{"id":9,"name":10,"hourlyBuilds":11,"dailyBuilds":16,"endpoints":21},2,"Example Company",["SlidingWindow",12],{"limit":13,"interval":14,"times":15},60,3600000,[],["SlidingWindow",17],{"limit":18,"interval":19,"times":20},300,86400000,[],[22],{"id":23,"name":24,"url":25,"events":26,"schema_version":6,"is_active":33,"last_delivery_at":34,"created_at":35,"updated_at":35,"creator":5,"secret":36,"previous":-1,"consecutiveFailures":37},3,"It\'s down","http://127.0.0.1:36471/down",[27,28,29,30,31,32],"audience.completed","audience.failed","activation.completed","activation.failed","cohort.completed","cohort.failed",true,null,"2026-11-29 20:35:43","whsec_TV29XjrVbKK9xb6nBREUVHuiA70d0z2Y",0,[],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map",10,8],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],[],4,[],{"running":60,"next":61,"reasons":62},["Map"],["Map"],["Map"],[],{"service":65,"webhooks":66,"faults":67},["BigInt","112636392359305"],["BigInt","148580519772899"],["BigInt","169648744857065"]]}');
