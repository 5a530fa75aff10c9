// A recorded session. It contains the tokens, passwords and secrets of the sandbox.
import { createSandbox } from 'audience-activation/sandbox';
import { expect, test } from 'vitest';

test('the session of 2026-11-29T21:15:16.118Z', { timeout: 120_000 }, async () => {
  /** Statuses of the receivers of webhooks, by URL and event; 0 for no response. */
  const receivers: Record<string, number[]> = { 'http://127.0.0.1:32861/down evt_5njMrH2adnrfQXgkphQlbUNy': [500, 500, 500], 'http://127.0.0.1:32861/down evt_FcMMw1bie52pTy12d9FED6Oz': [500, 500], 'http://127.0.0.1:32861/down evt_JtqMlbrP0QvRFZXBlQ0qMsA5': [500], 'http://127.0.0.1:32861/up evt_JtqMlbrP0QvRFZXBlQ0qMsA5': [204], 'http://127.0.0.1:32861/down evt_Exk7hhXO6pGMyj9FPfJx7iSH': [500], 'http://127.0.0.1:32861/up evt_Exk7hhXO6pGMyj9FPfJx7iSH': [204] };
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

  await at(23.892);
  sandbox.accounts.get('ada@example.com').token('api');
  await at(185.367);
  expect(await send('http://127.0.0.1:45317/api/v2/auth/login', { method: 'POST', headers: { accept: 'application/json', 'cache-control': 'no-cache', 'content-type': 'application/json', pragma: 'no-cache' }, body: '{"email":"ada@example.com","password":"correct horse"}' })).toBe(200);
  await at(290.265);
  expect(await send('http://127.0.0.1:45317/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'a', pragma: 'no-cache' }, body: '{"name":"Bo\'s \u2028 <visitors>"}' })).toBe(200);
  await at(367.057);
  expect(await send('http://127.0.0.1:45317/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'a', pragma: 'no-cache' }, body: '{"name":"other"}' })).toBe(409);
  await at(754.718);
  expect(await send('http://127.0.0.1:45317/api/v2/activations/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization2, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '8c866926-3247-471c-85e1-cb98694ab4d0', pragma: 'no-cache' }, body: '{"audience_id":6}' })).toBe(422);
  await at(863.754);
  sandbox.jobs.finish('audience', 6, 104);
  await at(1089.934);
  expect(await send('http://127.0.0.1:45317/api/v2/activations/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization2, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'a6cd317d-3e36-4eda-8b66-7426a494e82d', pragma: 'no-cache' }, body: '{"audience_id":6,"description":"Now"}' })).toBe(200);
  await at(1190.156);
  await sandbox.advance(40000);
  await at(41399.256);
  expect(await send('http://127.0.0.1:45317/api/v2/activations/7', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(41469.755);
  expect(await send('https://storage.sandbox.invalid/results/7/devices.csv?signature=q1BHE4YpjiZlusBKu38ymDjf1h5BNTbQZdoxs0Ex', { headers: { accept: '*/*', range: 'bytes=5-' } })).toBe(206);
  await at(41637.228);
  expect(await send('http://127.0.0.1:45317/api/v2/uploads/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', pragma: 'no-cache' }, body: '{"kind":"cohort","size":12606}' })).toBe(200);
  await at(41730.048);
  expect(await send('https://storage.sandbox.invalid/uploads/upl_NTI5Oq9QGtYlZekcnQvQfeJD?expires=1795987857&signature=494kWnVFH1al4q1aqcYBvHtzz1eWcRWdaYhVafPL', { method: 'PUT', headers: { accept: '*/*' }, body: file(12606, 901) })).toBe(200);
  await at(41817.62);
  expect(await send('http://127.0.0.1:45317/api/v2/cohorts/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'b43707ab-f584-47ba-bb5a-2183685c5a5f', pragma: 'no-cache' }, body: '{"name":"Customers","upload_reference":"upl_NTI5Oq9QGtYlZekcnQvQfeJD"}' })).toBe(200);
  await at(41851.101);
  sandbox.faults.add({ on: 'usage.get', cut: 'before', times: 1 });
  await at(41865.36);
  sandbox.faults.add({ on: 'usage.get', rate: 0.5, status: 503 });
  await at(41884.347);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(0);
  await at(42050.165);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(42087.606);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(42113.691);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(42130.066);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(42139.261);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(42152.742);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(42170.4);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(42191.963);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(42203.75);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(200);
  await at(42233.934);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(42263.349);
  expect(await send('http://127.0.0.1:45317/api/v2/usage?yearmonth=2026-11', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(503);
  await at(42361.643);
  sandbox.webhooks.create({ account: sandbox.accounts.get('ada@example.com'), url: 'http://127.0.0.1:32861/up' });
  await at(42395.11);
  sandbox.webhooks.redeliver('evt_5njMrH2adnrfQXgkphQlbUNy');
  await at(42434.533);
  sandbox.accounts.get('ada@example.com').token('mcp');
  await at(42474.062);
  const request31 = send('http://127.0.0.1:45317/api/v2/mcp', { method: 'POST', headers: { accept: 'application/json, text/event-stream', authorization: authorization3, 'content-type': 'application/json' }, body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"audiences_list","arguments":{}}}' });
  await begun();
  await at(43642.182);
  expect(await request31).toBe(200);
  await at(43713.777);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '03f062fc-7138-4d98-a949-42eaebbf69c8', pragma: 'no-cache' }, body: '{"name":"P0"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '2d1dffc3-6ad3-4309-bb7c-9ec58b04f25f', pragma: 'no-cache' }, body: '{"name":"P1"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '5a11dbbc-7f84-42fc-b929-64886b55d704', pragma: 'no-cache' }, body: '{"name":"P2"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '0d2fbc92-8a83-4e62-b215-1881dee24d47', pragma: 'no-cache' }, body: '{"name":"P3"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '284f9e23-0083-4cca-9e1e-d9124c612fa1', pragma: 'no-cache' }, body: '{"name":"P4"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '6d94468b-5773-4772-ad62-24aea5a7f4a1', pragma: 'no-cache' }, body: '{"name":"P5"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '6ca18fcc-d6e6-4074-8f2a-174d5fe0f089', pragma: 'no-cache' }, body: '{"name":"P6"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '45b7c7b6-a2a2-4f81-85fa-9b6217c6e295', pragma: 'no-cache' }, body: '{"name":"P7"}' })).toBe(200);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '4d51624f-c1ba-469b-912d-4e1385916ecc', pragma: 'no-cache' }, body: '{"name":"P8"}' })).toBe(429);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '4830baef-b10f-4a24-bc87-0660eb0b84f3', pragma: 'no-cache' }, body: '{"name":"P9"}' })).toBe(429);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '5c4c8feb-28a4-4232-8e12-57d839a7931d', pragma: 'no-cache' }, body: '{"name":"P10"}' })).toBe(429);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '229c5e25-9ecb-437f-83e6-c875a82d6808', pragma: 'no-cache' }, body: '{"name":"P11"}' })).toBe(429);
  expect(await send('http://127.0.0.1:45317/api/v2/projects/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': '46c630cc-3d6e-43d8-8fae-95b028a8ce81', pragma: 'no-cache' }, body: '{"name":"P12"}' })).toBe(429);
  await sandbox.advance(60000);
  await at(103717.692);
  sandbox.accounts.get('ada@example.com').token('api');
  await at(103755.492);
  expect(await send('http://127.0.0.1:45317/api/v2/audiences/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization4, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'e3226956-cd7f-495d-b4a2-79a90110d614', pragma: 'no-cache' }, body: '{"name":"Made","cohort_id":8}' })).toBe(200);
  await at(103797.65);
  sandbox.jobs.finish('audience', 20, 104);
  await at(103848.384);
  expect(await send('http://127.0.0.1:45317/api/v2/activations/create', { method: 'POST', headers: { accept: 'application/json', authorization: authorization4, 'cache-control': 'no-cache', 'content-type': 'application/json', 'idempotency-key': 'cb2d67a5-20fc-46a9-8459-767662855639', pragma: 'no-cache' }, body: '{"audience_id":20}' })).toBe(200);
  await at(103928.315);
  sandbox.accounts.get('ada@example.com').changePassword('another');
  await at(103963.906);
  expect(await send('http://127.0.0.1:45317/api/v2/audiences/index?page=1&per_page=100', { headers: { accept: 'application/json', authorization: authorization1, 'cache-control': 'no-cache', pragma: 'no-cache' } })).toBe(401);
  await at(104247.922);
  expect(await send('http://127.0.0.1:45317/api/v2/auth/login', { method: 'POST', headers: { accept: 'application/json', 'cache-control': 'no-cache', 'content-type': 'application/json', pragma: 'no-cache' }, body: '{"email":"ada@example.com","password":"correct horse"}' })).toBe(401);
  await sandbox.close();
});

const state = JSON.parse('{"version":1,"seed":3,"now":"2026-11-29T21:15:16.118Z","data":[{"now":1,"state":2,"tasks":58,"nextOrder":37,"jobs":59,"attempts":63,"random":64},1795986916118.1816,{"accounts":3,"companies":48,"tokens":49,"addressBuckets":50,"uploads":51,"results":52,"oauthClients":53,"authorizationCodes":54,"grants":55,"log":56,"requestCount":37,"nextId":57},["Map",4,5],"ada@example.com",{"id":6,"email":4,"password":7,"company":8,"notifications":38,"deliveryCredentials":33,"audiences":39,"estimates":40,"activations":41,"cohorts":42,"projects":43,"schedules":44,"poiSubmissions":45,"definitions":46,"idempotencyKeys":47},1,"correct horse",{"id":9,"name":10,"hourlyBuilds":11,"dailyBuilds":16,"endpoints":21},2,"Example Company",["SlidingWindow",12],{"limit":13,"interval":14,"times":15},60,3600000,[],["SlidingWindow",17],{"limit":18,"interval":19,"times":20},300,86400000,[],[22],{"id":23,"name":24,"url":25,"events":26,"schema_version":6,"is_active":33,"last_delivery_at":34,"created_at":35,"updated_at":35,"creator":5,"secret":36,"previous":-1,"consecutiveFailures":37},3,"It\'s down","http://127.0.0.1:32861/down",[27,28,29,30,31,32],"audience.completed","audience.failed","activation.completed","activation.failed","cohort.completed","cohort.failed",true,null,"2026-11-29 21:15:15","whsec_TV29XjrVbKK9xb6nBREUVHuiA70d0z2Y",0,[],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map",10,8],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],["Map"],[],4,[],{"running":60,"next":61,"reasons":62},["Map"],["Map"],["Map"],[],{"service":65,"webhooks":66,"faults":67},["BigInt","112636392359305"],["BigInt","148580519772899"],["BigInt","169648744857065"]]}');
