import { expect, it } from 'vitest';
import type { AudienceClient, ClientOptions, ServiceContract } from '../../../src/index.ts';
import { everything } from '../../support/everything.ts';
import type { Script, Step } from '../../support/script.ts';
import { clientOf, failureOf, startServer, type TestServer } from '../../support/server.ts';
import { bytesOf, SIGNATURE, wireActivation } from '../../support/storage.ts';

const TOKEN = 'canary-token-1234';
const FILE: Step = { text: 'eid\n1\n', headers: { 'content-type': 'text/csv' } };
const LOGIN: Step = { text: '<html>Sign in</html>', headers: { 'content-type': 'text/html; charset=UTF-8' } };
const redirectTo = (location: string): Step => ({ status: 302, headers: { location } });

/** Starts a service whose activation 7 has the link `uri`; `routes` are the responses to other requests. */
async function startService(
  uri: string,
  routes: Readonly<Record<string, readonly Step[]>>,
  results?: ServiceContract['results'],
  options: ClientOptions = {},
): Promise<{ client: AudienceClient; api: TestServer }> {
  const script: Script = { 'GET /api/v2/activations/7': [{ data: wireActivation(uri) }], ...routes };
  const api = await startServer(script);
  return { api, client: clientOf(api, { token: TOKEN, contract: { results }, ...options }) };
}

/** Returns the text of the first result. */
async function readFirst(client: AudienceClient): Promise<string> {
  for await (const { open } of client.activations.download(7))
    return new TextDecoder().decode(await bytesOf(await open()));
  throw new Error('No downloads.');
}

/** Returns the bearers that a server received for paths that begin with a prefix. */
const bearersAt = async (server: TestServer, prefix: string): Promise<(string | undefined)[]> =>
  (await server.seen()).filter(({ url }) => url.startsWith(prefix)).map(({ headers }) => headers.authorization);

it('a link that begins with a slash is on the origin of the service, and gets no token by default', async () => {
  const { client, api } = await startService('/files/devices.csv', { 'GET /files/devices.csv': [FILE] });
  expect(await client.activations.results(7)).toEqual([{ name: 'devices', uri: `${api.url}/files/devices.csv` }]);
  expect(await readFirst(client)).toBe('eid\n1\n');
  expect(await bearersAt(api, '/files')).toEqual([undefined]);
});

it('a link on the origin of the service gets the token if the contract says so', async () => {
  const file = { ...FILE, bearer: TOKEN };
  const { client, api } = await startService(
    '/files/devices.csv',
    { 'GET /files/devices.csv': [file] },
    { bearer: true },
  );
  expect(await readFirst(client)).toBe('eid\n1\n');
  expect(await bearersAt(api, '/files')).toEqual([`Bearer ${TOKEN}`]);
});

it('a link that is refused on the origin of the service names the setting for the token', async () => {
  const { client } = await startService('/files/devices.csv', {
    'GET /files/devices.csv': [{ ...FILE, bearer: TOKEN }],
  });
  const error = await failureOf(readFirst(client));
  expect(error).toMatchObject({ status: 401, advice: expect.stringContaining('`results: { bearer: true }`') });
});

it('a token that the service has refused is renewed with the link', async () => {
  const fresh = `${TOKEN}-fresh`;
  let token = TOKEN;
  const routes = {
    'GET /api/v2/activations/7': [
      { data: wireActivation('/files/devices.csv'), bearer: TOKEN },
      { data: wireActivation('/files/devices.csv'), bearer: fresh },
    ],
    'GET /files/devices.csv': [{ ...FILE, bearer: fresh }],
  };
  const source = { get: async ({ rejected }: { rejected?: string | undefined }) => (token = rejected ? fresh : token) };
  const { client } = await startService('', routes, { bearer: true }, { token: source });
  expect(await readFirst(client)).toBe('eid\n1\n');
});

it('a link on another origin never gets the token', async () => {
  const storage = await startServer([FILE]);
  const { client } = await startService(`${storage.url}/devices.csv`, {}, { bearer: true, redirect: true });
  expect(await readFirst(client)).toBe('eid\n1\n');
  expect(await bearersAt(storage, '/')).toEqual([undefined]);
});

it('a redirect is followed if the contract says so, and the token goes to no other origin and not back', async () => {
  const storage = await startServer([FILE]);
  const { client, api } = await startService(
    '/files/1',
    { 'GET /files/1': [redirectTo('/files/2')], 'GET /files/2': [redirectTo(`${storage.url}/3?sig=${SIGNATURE}`)] },
    { bearer: true, redirect: true },
  );
  expect(await readFirst(client)).toBe('eid\n1\n');
  expect(await bearersAt(api, '/files')).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
  expect(await bearersAt(storage, '/3')).toEqual([undefined]);
});

it('a redirect that returns from another origin gets no token', async () => {
  const away = 'http://away.example/1';
  let home = '';
  const options: ClientOptions = {
    fetch: async (input, init) =>
      input === away ? new Response(null, { status: 302, headers: { location: `${home}/back` } }) : fetch(input, init),
  };
  const routes = { 'GET /files/1': [redirectTo(away)], 'GET /back': [FILE] };
  const { client, api } = await startService('/files/1', routes, { bearer: true, redirect: true }, options);
  home = api.url;
  expect(await readFirst(client)).toBe('eid\n1\n');
  expect(await bearersAt(api, '/back')).toEqual([undefined]);
});

it('a redirect is refused by default, and the error names the setting', async () => {
  const elsewhere = await startServer([FILE]);
  const { client } = await startService('/files/1', { 'GET /files/1': [redirectTo(elsewhere.url)] });
  const error = await failureOf(readFirst(client));
  expect(error).toMatchObject({ code: 'redirect-refused', advice: expect.stringContaining('{ redirect: true }') });
  expect(await elsewhere.seen()).toEqual([]);
});

it.each([
  ['without an end', '/files/1', 11],
  ['to another kind of address', 'ftp://storage.example/f', 1],
])('redirects %s are refused', async (_, location, requests) => {
  const { client, api } = await startService(
    '/files/1',
    { 'GET /files/1': [redirectTo(location)] },
    { redirect: true },
  );
  expect(await failureOf(readFirst(client))).toMatchObject({ code: 'redirect-refused' });
  expect(await bearersAt(api, '/files')).toHaveLength(requests);
});

it('a page for signing in and an empty response are no result', async () => {
  const page = await startService(
    '/files/1.csv',
    { 'GET /files/1.csv': [redirectTo('/login')], 'GET /login': [LOGIN] },
    {
      redirect: true,
    },
  );
  expect(await failureOf(readFirst(page.client))).toMatchObject({
    code: 'response-invalid',
    message: expect.stringContaining('an HTML page instead of the file'),
  });
  const empty = await startService('/files/1.csv', { 'GET /files/1.csv': [{ status: 204, text: '' }] });
  expect(await failureOf(readFirst(empty.client))).toMatchObject({
    code: 'response-invalid',
    message: expect.stringContaining('responded with 204 instead of the file'),
  });
});

it.each([
  ['/files/report.html', {}],
  ['/files/1', { 'content-disposition': 'attachment; filename="1.csv"' }],
])('a file at %s is saved although it is HTML, with headers %j', async (path, headers) => {
  const step = { ...LOGIN, headers: { ...LOGIN.headers, ...headers } };
  const { client } = await startService(path, { [`GET ${path}`]: [step] });
  expect(await readFirst(client)).toContain('Sign in');
});

it('the error of a token source ends the download immediately, and shows no secret', async () => {
  let reads = 0;
  const token = async (): Promise<string> => {
    if (reads++ === 0) return TOKEN;
    throw new Error('vault is closed');
  };
  const { client, api } = await startService('/files/1', { 'GET /files/1': [FILE] }, { bearer: true }, { token });
  const error = await failureOf(readFirst(client));
  expect(error).toMatchObject({ code: 'token-unavailable', message: expect.stringContaining('vault is closed') });
  expect(everything(error)).not.toContain(TOKEN);
  expect(await bearersAt(api, '/files')).toEqual([]);
});
