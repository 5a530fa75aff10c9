// A recorded session. It contains the tokens, passwords and secrets of the sandbox.
import { createSandbox } from 'audience-activation/sandbox';
import { expect, test } from 'vitest';

test('the session of 2026-11-29T21:15:18.102Z', { timeout: 120_000 }, async () => {
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

  await at(25.878);
  sandbox.accounts.get('ada@example.com').token('api');
  await at(36.165);
  sandbox.faults.add({ times: 1, on: 'audiences.create', cut: 'before' });
  await at(65.281);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '3a00cc2b-9e94-428c-ad5a-3ab768d3920a', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"cut\\":\\"before\\"}"}' })).toBe(0);
  await at(107.958);
  sandbox.faults.add({ times: 1, on: 'audiences.create', cut: 'after' });
  await at(129.2);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '59b728f8-b438-420c-b9fc-68d4d3e07554', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"cut\\":\\"after\\"}"}' })).toBe(0);
  await at(165.592);
  sandbox.faults.add({ times: 1, on: 'audiences.create', cut: 'body' });
  await at(189.313);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '919174d6-b11e-445c-8bd9-342575f6edd2', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"cut\\":\\"body\\"}"}' })).toBe(200);
  await at(225.328);
  sandbox.faults.add({ times: 1, on: 'audiences.create', malformed: true });
  await at(268.646);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '4fe58801-4029-4e8c-b1d3-8c4054512376', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"malformed\\":true}"}' })).toBe(200);
  await at(303.416);
  sandbox.faults.add({ times: 1, on: 'audiences.create', status: 503, retryAfter: 1 });
  await at(322.24);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'b0722fb8-b64e-442e-82a6-c67556dd12a8', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"status\\":503,\\"retryAfter\\":1}"}' })).toBe(503);
  await at(355.118);
  sandbox.faults.add({ times: 1, on: 'audiences.create', delay: 20 });
  await at(380.882);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'de9ca468-836e-4a6d-95ee-ebf76e6ab0a6', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"delay\\":20}"}' })).toBe(200);
  await at(444.333);
  sandbox.faults.add({ times: 1, on: 'audiences.create', delay: 20, cut: 'after' });
  await at(452.879);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '66139479-7384-45e2-b61a-c3da0af271b6', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"delay\\":20,\\"cut\\":\\"after\\"}"}' })).toBe(0);
  await at(528.823);
  sandbox.faults.add({ times: 1, on: 'audiences.create', inFlight: 20, cut: 'after' });
  await at(533.579);
  expect(await send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'c2335269-5643-4e26-b63c-87d8dd956db2', pragma: 'no-cache' }, body: '{"name":"{\\"times\\":1,\\"on\\":\\"audiences.create\\",\\"inFlight\\":20,\\"cut\\":\\"after\\"}"}' })).toBe(0);
  await at(613.334);
  sandbox.faults.add({ delay: 60000, on: 'usage.get', times: 1 });
  await at(651.32);
  expect(await send('http://127.0.0.1:38819/api/v2/usage?yearmonth=2026-11', { signal: AbortSignal.timeout(16), headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(0);
  await at(712.037);
  expect(await send('http://127.0.0.1:38819/api/v2/usage', { headers: { accept: 'text/html' } })).toBe(406);
  await at(885.809);
  sandbox.faults.remove(9);
  await at(886.141);
  sandbox.faults.add({ inFlight: 60000, on: 'audiences.create', times: 1 });
  await at(1053.08);
  const request23 = send('http://127.0.0.1:38819/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'held', pragma: 'no-cache' }, body: '{"name":"A"}' });
  await begun();
  await at(1078.171);
  expect(await send('http://127.0.0.1:38819/api/v2/usage', { headers: { accept: 'text/html' } })).toBe(406);
  await at(1081.304);
  sandbox.faults.remove(10);
  await at(1085.941);
  expect(await request23).toBe(200);
  await sandbox.close();
});

const state = JSON.parse('{"version":1,"seed":3,"now":"2026-11-29T21:15:18.102Z","data":[{"now":1,"state":2,"tasks":58,"nextOrder":37,"jobs":59,"attempts":63,"random":64},1795986918102.4702,{"accounts":3,"companies":48,"tokens":49,"addressBuckets":50,"uploads":51,"results":52,"oauthClients":53,"authorizationCodes":54,"grants":55,"log":56,"requestCount":37,"nextId":57},["Map",4,5],"ada@example.com",{"id":6,"email":4,"password":7,"company":8,"notifications":38,"deliveryCredentials":33,"audiences":39,"estimates":40,"activations":41,"cohorts":42,"projects":43,"schedules":44,"poiSubmissions":45,"definitions":46,"idempotencyKeys":47},1,"correct horse",{"id":9,"name":10,"hourlyBuilds":11,"dailyBuilds":16,"endpoints":21},2,"Example Company",["SlidingWindow",12],{"limit":13,"interval":14,"times":15},60,3600000,[],["SlidingWindow",17],{"limit":18,"interval":19,"times":20},300,86400000,[],[22],{"id":23,"name":24,"url":25,"events":26,"schema_version":6,"is_active":33,"last_delivery_at":34,"created_at":35,"updated_at":35,"creator":5,"secret":36,"previous":-1,"consecutiveFailures":37},3,"It\'s down","http://127.0.0.1:34947/down",[27,28,29,30,31,32],"audience.completed","audience.failed","activation.completed","activation.failed","cohort.completed","cohort.failed",true,null,"2026-11-29 21:15:18","whsec_TV29XjrVbKK9xb6nBREUVHuiA70d0z2Y",0,[],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map",10,8],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],[],4,[],{"running":60,"next":61,"reasons":62},["Map"],["Map"],["Map"],[],{"service":65,"webhooks":66,"faults":67},["BigInt","112636392359305"],["BigInt","148580519772899"],["BigInt","169648744857065"]]}');
