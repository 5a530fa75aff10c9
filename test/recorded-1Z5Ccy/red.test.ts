// A recorded session. It contains the tokens, passwords and secrets of the sandbox.
import { createSandbox } from 'audience-activation/sandbox';
import { expect, test } from 'vitest';

test('the session of 2026-11-29T20:35:42.639Z', { timeout: 120_000 }, async () => {
  /** Statuses of the receivers of webhooks, by URL and event; 0 for no response. */
  const receivers: Record<string, number[]> = { 'http://127.0.0.1:33331/down evt_5njMrH2adnrfQXgkphQlbUNy': [500, 500, 500], 'http://127.0.0.1:33331/down evt_FcMMw1bie52pTy12d9FED6Oz': [500, 500], 'http://127.0.0.1:33331/up evt_JtqMlbrP0QvRFZXBlQ0qMsA5': [204], 'http://127.0.0.1:33331/down evt_JtqMlbrP0QvRFZXBlQ0qMsA5': [500], 'http://127.0.0.1:33331/down evt_Exk7hhXO6pGMyj9FPfJx7iSH': [500], 'http://127.0.0.1:33331/up evt_Exk7hhXO6pGMyj9FPfJx7iSH': [204] };
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
  const authorization2 = 'Bearer 5|trURwaoI9OUBNDcJT2NaqmFwJ5MsA74H1Q6AadAo';
  const authorization3 = 'Bearer 10|QITDx6WAK6rT3AYlhqGp1LZlzXsa8ss6AyK2G5l5';
  const authorization4 = 'Bearer 19|Bnpn5TTyAjEBH6xk648zrSqtYYxl3ovLUbMPkklH';
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

  await at(9.302);
  sandbox.accounts.get('ada@example.com').token('api');
  await at(83.54);
  expect(await send('http://127.0.0.1:44955/api/v2/auth/login', { method: 'POST', headers: { accept: 'application/json', 'cache-control': 'no-cache', 'content-type': 'application/json', pragma: 'no-cache' }, body: '{"email":"ada@example.com","password":"correct horse"}' })).toBe(200);
  await at(135.506);
  expect(await send('http://127.0.0.1:44955/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'a', pragma: 'no-cache' }, body: '{"name":"Bo\'s \u2028 <visitors>"}' })).toBe(200);
  await at(175.32);
  expect(await send('http://127.0.0.1:44955/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'a', pragma: 'no-cache' }, body: '{"name":"other"}' })).toBe(200);
  await at(297.628);
  expect(await send('http://127.0.0.1:44955/api/v2/activations/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization2, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '0a8a33d3-4c54-4347-ae2f-e975ef348b5d', pragma: 'no-cache' }, body: '{"audience_id":6}' })).toBe(422);
  await at(352.647);
  sandbox.jobs.finish('audience', 6, 104);
  await at(439.476);
  expect(await send('http://127.0.0.1:44955/api/v2/activations/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization2, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '619318e5-0969-4b59-81e5-9fe2522178f3', pragma: 'no-cache' }, body: '{"audience_id":6,"description":"Now"}' })).toBe(200);
  await at(654.013);
  await sandbox.advance(40000);
  await at(40790.442);
  expect(await send('http://127.0.0.1:44955/api/v2/activations/7', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(40809.384);
  expect(await send('https://storage.sandbox.invalid/results/7/devices.csv?signature=q1BHE4YpjiZlusBKu38ymDjf1h5BNTbQZdoxs0Ex', { headers: { accept: '*/*', range: 'bytes=5-' } })).toBe(206);
  await at(40949.341);
  expect(await send('http://127.0.0.1:44955/api/v2/uploads/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', pragma: 'no-cache' }, body: '{"kind":"cohort","size":12606}' })).toBe(200);
  await at(40971.646);
  expect(await send('https://storage.sandbox.invalid/uploads/upl_NTI5Oq9QGtYlZekcnQvQfeJD?expires=1795985483&signature=494kWnVFH1al4q1aqcYBvHtzz1eWcRWdaYhVafPL', { method: 'PUT', headers: { accept: '*/*' }, body: file(12606, 901) })).toBe(200);
  await at(40993.372);
  expect(await send('http://127.0.0.1:44955/api/v2/cohorts/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '0636a284-13c8-4689-8072-7b4b9121a500', pragma: 'no-cache' }, body: '{"name":"Customers","upload_reference":"upl_NTI5Oq9QGtYlZekcnQvQfeJD"}' })).toBe(200);
  await at(41010.412);
  sandbox.faults.add({ on: 'usage.get', cut: 'before', times: 1 });
  await at(41022.167);
  sandbox.faults.add({ on: 'usage.get', rate: 0.5, status: 503 });
  await at(41033.685);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(0);
  await at(41069.795);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(41084.489);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(41098.669);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(41110.823);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(41119.872);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(41130.016);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(41151.324);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(41164.296);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(41194.926);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(41204.117);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(41218.159);
  expect(await send('http://127.0.0.1:44955/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(41231.638);
  sandbox.webhooks.create({ account: sandbox.accounts.get('ada@example.com'), url: 'http://127.0.0.1:33331/up' });
  await at(41241.985);
  sandbox.webhooks.redeliver('evt_5njMrH2adnrfQXgkphQlbUNy');
  await at(41256.149);
  sandbox.accounts.get('ada@example.com').token('mcp');
  await at(41266.281);
  const request31 = send('http://127.0.0.1:44955/api/v2/mcp', { method: 'POST', headers: { accept: 'application/json, text/event-stream', authorization: authorization3, 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"audiences_list","arguments":{}}}' });
  await begun();
  await at(41663.348);
  expect(await request31).toBe(200);
  await at(41684.339);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '64f6c884-eafa-453a-a92d-9c843995699d', pragma: 'no-cache' }, body: '{"name":"P0"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '6fded39a-d804-4e12-9237-79f2cc805935', pragma: 'no-cache' }, body: '{"name":"P1"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '536874a7-18eb-490c-ae74-1e8f258ce7cc', pragma: 'no-cache' }, body: '{"name":"P2"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'b823f03b-3b2a-46c9-8706-e4cafde4aae8', pragma: 'no-cache' }, body: '{"name":"P3"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'c6850aac-fdf7-4b32-8abc-7b919ade22f9', pragma: 'no-cache' }, body: '{"name":"P4"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'ba1358bc-0add-4480-8fe9-25d4b6b8394d', pragma: 'no-cache' }, body: '{"name":"P5"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'a685edb6-dbf0-4572-ae6f-d32d90236e28', pragma: 'no-cache' }, body: '{"name":"P6"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '741de5e9-ce2a-4cdd-84b3-627700ead592', pragma: 'no-cache' }, body: '{"name":"P7"}' })).toBe(200);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '4999be66-98bc-40ba-9a9e-228cae10d514', pragma: 'no-cache' }, body: '{"name":"P8"}' })).toBe(429);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '38d108f5-c3cf-4656-875f-a6cc4946e126', pragma: 'no-cache' }, body: '{"name":"P9"}' })).toBe(429);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '55f3dbd6-1bab-417c-b32c-8a2dc4eda821', pragma: 'no-cache' }, body: '{"name":"P10"}' })).toBe(429);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'c65357fa-40db-41fc-9434-6243cfc1aa42', pragma: 'no-cache' }, body: '{"name":"P11"}' })).toBe(429);
  expect(await send('http://127.0.0.1:44955/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '9c7b2ee0-a13c-427e-bcca-4912e1293206', pragma: 'no-cache' }, body: '{"name":"P12"}' })).toBe(429);
  await sandbox.advance(60000);
  await at(101687.13);
  sandbox.accounts.get('ada@example.com').token('api');
  await at(101695.886);
  expect(await send('http://127.0.0.1:44955/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization4, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '9da5eaa3-b2bb-4f58-b96c-7ee6a21c4102', pragma: 'no-cache' }, body: '{"name":"Made","cohort_id":8}' })).toBe(200);
  await at(101707.037);
  sandbox.jobs.finish('audience', 20, 104);
  await at(101721.569);
  expect(await send('http://127.0.0.1:44955/api/v2/activations/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization4, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '1a9571ca-59f3-43ce-90a6-2a1e1b20012e', pragma: 'no-cache' }, body: '{"audience_id":20}' })).toBe(200);
  await at(101738.407);
  sandbox.accounts.get('ada@example.com').changePassword('another');
  await at(101752.342);
  expect(await send('http://127.0.0.1:44955/api/v2/audiences/index?page=1&per_page=100', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(401);
  await at(101769.738);
  expect(await send('http://127.0.0.1:44955/api/v2/auth/login', { method: 'POST', headers: { accept: 'application/json', 'cache-control': 'no-cache', 'content-type': 'application/json', pragma: 'no-cache' }, body: '{"email":"ada@example.com","password":"correct horse"}' })).toBe(401);
  await sandbox.close();
});

const state = JSON.parse('{"version":1,"seed":3,"now":"2026-11-29T20:35:42.639Z","data":[{"now":1,"state":2,"tasks":58,"nextOrder":37,"jobs":59,"attempts":63,"random":64},1795984542639.6094,{"accounts":3,"companies":48,"tokens":49,"addressBuckets":50,"uploads":51,"results":52,"oauthClients":53,"authorizationCodes":54,"grants":55,"log":56,"requestCount":37,"nextId":57},["Map",4,5],"ada@example.com",{"id":6,"email":4,"password":7,"company":8,"notifications":38,"deliveryCredentials":33,"audiences":39,"estimates":40,"activations":41,"cohorts":42,"projects":43,"schedules":44,"poiSubmissions":45,"definitions":46,"idempotencyKeys":47},1,"correct horse",{"id":9,"name":10,"hourlyBuilds":11,"dailyBuilds":16,"endpoints":21},2,"Example Company",["SlidingWindow",12],{"limit":13,"interval":14,"times":15},60,3600000,[],["SlidingWindow",17],{"limit":18,"interval":19,"times":20},300,86400000,[],[22],{"id":23,"name":24,"url":25,"events":26,"schema_version":6,"is_active":33,"last_delivery_at":34,"created_at":35,"updated_at":35,"creator":5,"secret":36,"previous":-1,"consecutiveFailures":37},3,"It\'s down","http://127.0.0.1:33331/down",[27,28,29,30,31,32],"audience.completed","audience.failed","activation.completed","activation.failed","cohort.completed","cohort.failed",true,null,"2026-11-29 20:35:42","whsec_TV29XjrVbKK9xb6nBREUVHuiA70d0z2Y",0,[],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map",10,8],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],[],4,[],{"running":60,"next":61,"reasons":62},["Map"],["Map"],["Map"],[],{"service":65,"webhooks":66,"faults":67},["BigInt","112636392359305"],["BigInt","148580519772899"],["BigInt","169648744857065"]]}');
