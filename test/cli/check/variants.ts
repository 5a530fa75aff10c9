import type { JsonObject } from '../../../src/spec/wire-values.ts';
import { isObject } from '../../../src/util/json.ts';
import { following, placing } from './support/contracts.ts';
import { expectAll, GETS, LISTS, OF_PROJECT, OPEN, SHAPES, type Variant } from './support/judge.ts';
import { type Answer, failure, json, ORIGIN, page, success } from './support/service.ts';
import {
  answers,
  answersCreate,
  blocks,
  changes,
  createsMeanwhile,
  fails,
  idsAs,
  listsGone,
  movesTimes,
  redirects,
  refuses,
  shows,
  throttles,
} from './support/traits.ts';

type Variants = Readonly<Record<string, Variant>>;

const ROWS = ['paging', 'page-size', 'waits.via'];
const JOBS = SHAPES.slice(0, 3);
const OF_AUDIENCES = ['path:audiences.get', 'path:lookalikes.get'];
const NOTHING_LISTED = ['path:estimates.get', 'statuses', ...ROWS, ...SHAPES];

const REST = following({ list: '/*', create: '/*', delete: 'DELETE /*/{id}' });
const SINGULAR = following({ list: '/?', get: '/?/{id}' });
/** Paths that nobody can guess. */
const OWN_NAMES = following({ list: '/library/my-*/overview', get: '/library/my-*/{id}/card' });
const TRAILING_SLASH = following({ list: '/*/index/', get: '/*/{id}/' });
/** A service behind a firewall that begins to block after some refusals. */
const firewall = (answer: Answer): Variant => ({
  contract: following({ list: '/*/everything' }),
  traits: [blocks(6, answer)],
  unfound: LISTS,
  expected: expectAll(['confirmed', ...OPEN], ...GETS, ...SHAPES, ...ROWS, 'statuses'),
  stopped: 12,
});
const offset = { style: 'offset', param: 'offset', size: 'limit' } as const;
const cursor = { style: 'cursor', param: 'cursor', size: 'limit', next: 'meta.next_cursor' } as const;
const pages = { style: 'page', param: 'page', size: 'per_page' } as const;
const LIST = /^(?!webhooks).*\.list$/;
const isIso = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:/.test(value);
const isoTimes = shows((resource) =>
  Object.fromEntries(
    Object.entries(resource).map(([name, value]) => [name, isIso(value) ? `${value.replace(' ', 'T')}.000Z` : value]),
  ),
);
const statusAs = (form: (status: JsonObject) => unknown) =>
  shows((resource) => (isObject(resource.status) ? { ...resource, status: form(resource.status) } : resource));
const camelName = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

const paths: Variants = {
  'a service that is as assumed': {},
  'lists at the name of the resource': { contract: REST },
  'names in the singular': { contract: SINGULAR },
  'names with a capital letter': { contract: following({ list: '/%', get: '/%/{id}' }) },
  'lists that end in "list", and a 403 at unknown paths': {
    contract: following({ list: '/*/list' }),
    unknown: () => failure(403, 'Unauthorized.'),
  },
  'resources that are read by "show", and pages at unknown paths': {
    contract: following({ get: '/*/show/{id}' }),
    unknown: () => page(404, 'Not Found'),
  },
  'audiences that differ alone': { contract: following({ list: '/*', get: '/?/{id}' }, ['audiences']) },
  'names that nobody can guess': {
    contract: OWN_NAMES,
    unfound: [...LISTS, ...GETS],
    unchecked: NOTHING_LISTED,
    works: false,
  },
  'audiences of a name that nobody can guess': {
    contract: following({ list: '/segments/*/overview', get: '/segments/?/{id}/card' }, ['audiences']),
    unfound: ['path:audiences.list', ...OF_AUDIENCES],
    unchecked: ['shape:audience', 'page-size'],
    works: false,
  },
  'lookalikes at another path': {
    contract: { operations: { 'lookalikes.get': { path: '/api/v2/lookalikes/{id}' } } },
    traits: [
      () => ({
        write(answer, { operation }) {
          const [row] = isObject(answer.body) ? [answer.body.data].flat() : [];
          const isRefused =
            (operation === 'audiences.get' && Object(row).is_lookalike === true) ||
            (operation === 'lookalikes.get' && Object(row).is_lookalike === false);
          return isRefused ? failure(404, 'Resource not found.') : answer;
        },
      }),
    ],
  },
  'a redirect to the lists': {
    contract: following({ list: '/*' }),
    traits: [redirects(/^(\/api\/v2\/(?!webhooks)\w+)\/index$/, '$1')],
  },
  'projects at whose path audiences are listed': {
    traits: [
      () => ({
        read: (call) => (call.operation === 'projects.list' ? { ...call, operation: 'audiences.list' } : call),
      }),
    ],
    unfound: ['path:projects.list'],
    open: ['path:projects.get', 'shape:project'],
    works: false,
  },
  'a prefix, and redirects to paths with a slash at the end': {
    basePath: '/gateway/v9',
    contract: TRAILING_SLASH,
    traits: [redirects(/^(\/api\/v2\/(?!webhooks|usage)[a-z]+\/(?:index|\d+))$/, '/gateway/v9$1/', 308)],
  },
  'no schedules at all': {
    missing: ['schedules.list', 'schedules.get'],
    unfound: ['path:schedules.list'],
    open: ['path:schedules.get', 'shape:schedule'],
    works: false,
  },
};

const unknownPaths: Variants = {
  'a page with status 200 at every unknown path': {
    contract: following({ list: '/*' }),
    unknown: () => page(200, 'Console'),
  },
  'a page with status 403 at every unknown path': { contract: SINGULAR, unknown: () => page(403, 'Forbidden') },
  // A 403 is not evidence about a path.
  'a 403 at every unknown path, and names that nobody can guess': {
    contract: OWN_NAMES,
    unknown: () => failure(403, 'Unauthorized.'),
    unchecked: [...LISTS, ...GETS, ...NOTHING_LISTED],
    mayStop: 12,
  },
  'a cloud gateway that asks for a token at unknown paths': {
    contract: { ...REST, requestIdHeader: 'x-amzn-requestid' },
    unknown: () => json(403, { message: 'Missing Authentication Token' }),
    unfound: ['request-id-header'],
  },
  '405 with Allow at unknown paths': {
    contract: REST,
    unknown: ({ path }) => ({ ...failure(405, `Not supported for ${path}.`), headers: { allow: 'POST' } }),
  },
  'the same 404 for resources and paths': {
    contract: following({ get: '/?/{id}' }),
    unknown: () => failure(404, 'Resource not found.'),
  },
  'empty lists at every unknown path': { unknown: () => success([]) },
  'empty lists at every unknown path, and an empty account': {
    unknown: () => success([]),
    isFilled: false,
    unchecked: [...LISTS, ...ROWS, ...SHAPES, 'statuses'],
    open: GETS,
  },
  'an empty account': { isFilled: false, unchecked: [...ROWS, ...SHAPES, 'statuses'], open: GETS },
  'a list that begins with a resource which is gone': { traits: [listsGone('audiences', 1)] },
  // Rows of other kinds can be compared.
  'audiences that are all gone when they are read': {
    traits: [listsGone('audiences', 1_000)],
    open: [...OF_AUDIENCES, 'shape:audience'],
    expected: { 'waits.via': ['confirmed', ...OPEN] },
  },
  'lists with two arrays, of which none has a row': {
    isFilled: false,
    traits: [changes(LIST, (body) => ({ ...body, data: { items: [], results: [] } }))],
    unfound: LISTS,
    open: GETS,
    unchecked: [...SHAPES, ...ROWS, 'statuses'],
    works: false,
  },
  'an account with one resource of each kind': {
    paging: { total: 1 },
    open: ['paging', 'page-size', 'path:lookalikes.get'],
  },
};

const paging: Variants = {
  'lists by a cursor': { contract: { paging: cursor } },
  'pages by page_number and page_size': { contract: { paging: { ...pages, param: 'page_number', size: 'page_size' } } },
  'lists by offset and limit, in pages of 50': { contract: { paging: { ...offset, maxSize: 50 } } },
  'pages whose size is perPage, of 50 rows at most': {
    contract: { paging: { ...pages, size: 'perPage', maxSize: 50 } },
  },
  'a 422 for pages of more than 50 rows': {
    contract: { paging: { ...pages, maxSize: 50 } },
    paging: { refusesLarge: true },
  },
  'pages of 25 rows, whatever is requested': {
    contract: { paging: { ...pages, maxSize: 25 } },
    paging: { isFixed: true },
    expected: { paging: ['confirmed', 'differs', 'not-checked'] },
  },
  // The second page is there, and the first one is left out: no setting says so.
  'pages that are counted from zero': {
    paging: { firstPage: 0 },
    unfound: ['paging'],
    expected: { 'page-size': ['confirmed', ...OPEN] },
    works: false,
  },
  'a cursor in the address of the next page': {
    contract: { paging: { style: 'cursor', param: 'cursor', size: 'per_page', next: 'links.next' } },
    paging: { nextLink: (cursor) => `${ORIGIN}/api/v2/next?per_page=25&cursor=${encodeURIComponent(cursor)}` },
  },
  'a next page that only the header Link names': {
    contract: { paging: cursor },
    traits: [changes(LIST, ({ meta, ...body }) => body)],
    unfound: ['paging'],
    expected: { 'page-size': ['confirmed', 'not-checked'] },
    works: false,
  },
  'rows below data.items, resources as objects below data': {
    contract: placing({ list: 'data.items', get: 'data.item' }),
  },
  'rows and resources below their own names': { contract: placing({ list: 'data.*', get: 'data.?' }) },
  'a paginator of Laravel below data': {
    contract: placing({ list: 'data.data' }),
    traits: [
      changes(LIST, (body) => ({
        ...body,
        data: { current_page: 1, ...Object(body.data), links: [{ label: '1' }] },
      })),
    ],
  },
  'collections of Laravel with links and meta, and single resources as objects': {
    traits: [
      changes(LIST, (body) => ({ ...body, links: { prev: null, next: null }, meta: { current_page: 1, links: [] } })),
      changes(/(?<!usage)\.get$/, (body) => ({ ...body, data: [body.data].flat()[0] })),
    ],
  },
  'an audience that another program creates before a page of one row': { traits: [createsMeanwhile(2)], leaves: 1 },
  'an audience that another program creates before the second page': { traits: [createsMeanwhile(3)], leaves: 1 },
  'second pages that fail': {
    traits: [answers(({ query }) => (query.has('page') ? page(502, 'Bad Gateway') : undefined))],
    unchecked: ['paging', 'page-size'],
  },
};

const contents: Variants = {
  'lists without status': { contract: { waits: { via: 'get' } } },
  'a status id for failures that is not documented': {
    traits: [
      shows((resource, { operation = '' }) =>
        operation.startsWith('audiences') && Object(resource.status).id === 107
          ? { ...resource, status: { id: 106, name: 'Failed' } }
          : resource,
      ),
    ],
    differs: ['statuses'],
  },

  'months as 202611': {
    traits: [
      answers(({ query }) => {
        const month = query.get('yearmonth');
        const isCompact = month === null || /^\d{6}$/.test(month);
        return isCompact ? undefined : failure(422, 'Invalid.', { errors: { yearmonth: ['Invalid.'] } });
      }),
    ],
    differs: ['usage.yearmonth'],
  },
  'a budget with other fields, and the name of the company as a key': {
    traits: [
      changes(/^usage/, (body) => ({
        ...body,
        data: { ...Object(body.data), 'Canary Holdings': { 'CANARY team': 4 }, build_budget: { hourly_limit: 60 } },
      })),
    ],
    differs: ['usage.build_budget'],
  },
  'a request id in another header': { contract: { requestIdHeader: 'x-correlation-id' } },
  'a request id that is always the same': {
    traits: [
      () => ({ write: (answer) => ({ ...answer, headers: { ...answer.headers, 'x-request-id': 'constant' } }) }),
    ],
    unfound: ['request-id-header'],
  },

  'ids that are UUIDs': {
    traits: [
      idsAs(
        (id) => `5f0c2d1e-0000-4000-8000-${id.toString(16).padStart(12, '0')}`,
        (id) => Number.parseInt(id.slice(-12), 16),
      ),
    ],
    differs: [...SHAPES, 'shape:webhook'],
    works: false,
  },
  'statuses that are names, and times of ISO 8601 with fractions': {
    traits: [statusAs(({ name }) => name), isoTimes],
    differs: JOBS,
    unchecked: ['waits.via', 'statuses'],
    works: false,
  },
  'fields in camelCase': {
    traits: [
      shows((resource) =>
        Object.fromEntries(Object.entries(resource).map(([name, value]) => [camelName(name), value])),
      ),
    ],
    differs: ['fields'],
  },
  'rows below the name of the company': {
    traits: [changes(/^audiences\.list/, (body) => ({ ...body, data: { 'Canary Holdings': body.data } }))],
    differs: ['path:audiences.list'],
    open: [...OF_AUDIENCES, 'shape:audience'],
    expected: { 'page-size': ['confirmed', ...OPEN] },
    works: false,
  },
  'a get that returns another audience': {
    traits: [
      () => ({
        read: (call) => (call.operation === 'audiences.get' ? { ...call, id: String(Number(call.id) - 1) } : call),
      }),
    ],
    differs: OF_AUDIENCES,
    expected: { 'shape:audience': ['confirmed', ...OPEN] },
    works: false,
  },
  'a list of 20 MiB': {
    traits: [
      answers(({ path }) =>
        path.includes('/schedules/index') ? { status: 200, body: 'CANARY '.repeat(3 * 2 ** 20) } : undefined,
      ),
    ],
    unfound: ['path:schedules.list'],
    unchecked: ['path:schedules.get', 'shape:schedule'],
    works: false,
  },
};

const refusing: Variants = {
  // Rows were seen before the block.
  'a service that blocks after four refusals': {
    contract: SINGULAR,
    traits: [blocks(4, failure(403, 'Blocked.'))],
    open: SHAPES,
    expected: { ...expectAll(['differs', 'not-checked'], ...LISTS, ...GETS) },
    stopped: 12,
  },
  'a gateway that bans after the first refusal': {
    contract: following({ get: '/?/{id}' }),
    traits: [blocks(1, failure(403, 'Banned.'))],
    expected: { ...expectAll(['differs', 'not-checked'], ...GETS) },
    stopped: 12,
  },
  'a firewall that responds with a page after six refusals': firewall(page(200, 'Access denied')),
  'a firewall that redirects after six refusals': firewall({
    ...page(302, 'Access denied'),
    headers: { location: '/blocked' },
  }),
  'a 429 for 20 seconds': { traits: [throttles(9, 10, () => '20')] },
  'a 429 until a date': { traits: [throttles(6, 6, (now) => new Date(now + 45_000).toUTCString())] },
  'a 429 for an hour': { traits: [throttles(6, 1_000, () => '3600')], open: ['shape:audience'], stopped: 9 },
  'four seconds for each response': { traits: [answers((_, service) => void service.hold(4_000))] },
  'a token that is not valid': { token: 'canary-invalid', unchecked: ['service'], stopped: 7 },
  'the address of a web page': { traits: [answers(() => page(200, 'Console'))], unchecked: ['service'], stopped: 1 },
  'responses without an envelope': { traits: [changes(/./, (body) => body.data)], unchecked: ['service'], stopped: 1 },
  'a role that may not see cohorts and activations': {
    traits: [answers(({ path }) => (/cohorts|activations/.test(path) ? failure(403, 'Your role.') : undefined))],
    open: [
      ...['path:cohorts.list', 'path:cohorts.get', 'path:activations.list', 'path:activations.get'],
      ...['shape:activation', 'shape:cohort'],
    ],
  },
  'a list and a report that fail at first': {
    traits: [fails('audiences.list', { status: 500 }), fails('usage.get', { status: 503 })],
  },
};

const writing: Variants = {
  'writes that are as assumed': {},
  'writes at other paths, which are not guessed': { contract: REST, unchecked: [...OF_PROJECT.slice(1)], works: false },
  'times of a zone in the west': { contract: { serverTimeZone: 'Etc/GMT+5' } },
  'times of a zone that is half an hour off': { contract: { serverTimeZone: '+05:30' } },
  'a database whose clock is six minutes slow': { traits: [movesTimes(-6)] },
  'times as ISO 8601': { traits: [isoTimes], unchecked: ['time-zone'] },
  'a reservation with other fields': {
    traits: [changes(/^uploads/, ({ data, ...body }) => ({ ...body, data: { upload_url: Object(data).url } }))],
    differs: ['path:uploads.reserve'],
    works: false,
  },
  'idempotency keys that are ignored': {
    contract: { operations: { 'projects.create': { retry: 'never' } } },
    traits: [() => ({ read: (call) => ({ ...call, headers: new Headers() }) })],
  },
  'idempotency keys that replay another body': {
    traits: [refuses(409, () => success([]))],
    differs: ['idempotency:projects.create'],
  },
  'a 409 for another body whose message speaks of a create in progress': {
    traits: [refuses(409, () => failure(409, 'A request with this key is in progress.'))],
  },
  'a 502 after the project was created': { traits: [fails('projects.create')] },
  'a project whose create is never answered': { traits: [fails('projects.create', { after: 60_000 })] },
  'a 502 for every project, which are not created': {
    traits: [fails('projects.create', { acts: false, times: 100 })],
    unchecked: OF_PROJECT,
  },
  'a 502 for every project, which are created': {
    traits: [fails('projects.create', { times: 100 })],
    unchecked: OF_PROJECT,
    expected: { 'path:projects.delete': 'confirmed' },
  },
  'projects that cannot be deleted': {
    missing: ['projects.delete'],
    differs: ['path:projects.delete'],
    works: false,
    leaves: 1,
  },
  'deletes that succeed and delete nothing': {
    traits: [answers(({ operation }) => (operation === 'projects.delete' ? success([]) : undefined))],
    differs: ['path:projects.delete'],
    works: false,
    leaves: 1,
  },

  'a replica that shows a project four seconds late': {
    traits: [
      () => {
        const created = new Map<string, number>();
        return {
          write(answer, { operation, id }) {
            const rows = isObject(answer.body) ? [answer.body.data].flat() : [];
            if (operation === 'projects.create') for (const row of rows) created.set(String(Object(row).id), 0);
            const reads = created.get(id) ?? 9;
            if (operation === 'projects.get') created.set(id, reads + 1);
            return operation === 'projects.get' && reads < 2 ? failure(404, 'Resource not found.') : answer;
          },
        };
      },
    ],
  },
  'projects that are named by a title': {
    traits: [
      answers(({ operation, body }) =>
        operation === 'projects.create' && Object(body).title === undefined
          ? failure(422, 'Invalid.', { errors: { title: ['Required.'] } })
          : undefined,
      ),
    ],
    works: false,
    differs: ['path:projects.create'],
    unchecked: OF_PROJECT.slice(1),
  },
  'a token that may only read': {
    traits: [answers(({ method }) => (method === 'GET' ? undefined : failure(403, 'Read only.')))],
    unchecked: [...OF_PROJECT, 'path:uploads.reserve'],
    mayStop: 12,
  },
  'creates with 201, and deletes with 204': {
    traits: [
      () => ({
        write(answer, { operation = '' }) {
          if (operation.endsWith('.delete')) return { status: 204, body: '' };
          return operation.endsWith('.create') && answer.status === 200 ? { ...answer, status: 201 } : answer;
        },
      }),
    ],
  },
  'a 409 for every key that was used': {
    traits: [
      () => {
        const used = new Set<string>();
        return answers(({ headers }) => {
          const key = headers.get('idempotency-key') ?? '';
          if (key === '' || !used.has(key)) return void used.add(key);
          return failure(409, 'The key was used.');
        })();
      },
    ],
    unfound: ['idempotency:projects.create'],
  },
  'a create that returns a project which existed before, and creates nothing': {
    traits: [answersCreate((_, existing) => success([existing]), { acts: false })],
    differs: ['path:projects.create'],
    unchecked: OF_PROJECT.slice(1),
    works: false,
  },
  'a create that returns a project which existed before, beside the one it creates': {
    traits: [answersCreate((_, existing) => success([existing]))],
    differs: ['path:projects.create'],
    works: false,
  },
  'a create that returns the id of a job, which is that of another project': {
    contract: { operations: { 'projects.create': { data: 'data.project' } } },
    traits: [answersCreate((created, { id }) => success({ id, ...created }))],
  },
  'a create with 200 that returns no id': {
    traits: [answersCreate(() => success([]))],
    differs: ['path:projects.create'],
    works: false,
  },
};

/** The services that `aud check` is tried against, with what it must report about each. */
export const variants: Readonly<Record<string, Variant>> = {
  ...paths,
  ...unknownPaths,
  ...paging,
  ...contents,
  ...refusing,
  ...Object.fromEntries(Object.entries(writing).map(([name, variant]) => [name, { ...variant, writes: true }])),
};
