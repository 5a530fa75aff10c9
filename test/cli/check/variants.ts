import type { JsonObject } from '../../../src/spec/wire-values.ts';
import { isObject } from '../../../src/util/json.ts';
import { following, merge, placing } from './support/contracts.ts';
import {
  expectAll,
  GET_PLACES,
  GETS,
  LIST_PLACES,
  LISTS,
  OF_PROJECT,
  OPEN,
  SHAPES,
  type Variant,
} from './support/judge.ts';
import { failure, json, ORIGIN, page, success, withBody } from './support/service.ts';
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

const ROWS = ['paging', 'page-size', 'waits.via'];
const JOBS = SHAPES.slice(0, 3);
const OF_AUDIENCES = ['path:audiences.get', 'path:lookalikes.get'];
const NOTHING_LISTED = expectAll('not-checked', 'path:estimates.get', 'statuses', ...ROWS, ...SHAPES);

const REST = following({ list: '/*', create: '/*', delete: 'DELETE /*/{id}' });
const SINGULAR = following({ list: '/?', get: '/?/{id}' });
/** Paths that nobody can guess. */
const OWN_NAMES = following({ list: '/library/my-*/overview', get: '/library/my-*/{id}/card' });
const EVERYTHING = following({ list: '/*/everything' });
const TRAILING_SLASH = following({ list: '/*/index/', get: '/*/{id}/' });
const offset = { style: 'offset', param: 'offset', size: 'limit' } as const;
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

const paths: readonly Variant[] = [
  { name: 'a service that is as assumed' },
  { name: 'lists at the name of the resource', service: { contract: REST }, expected: expectAll('differs', ...LISTS) },
  { name: 'names in the singular', service: { contract: SINGULAR }, expected: expectAll('differs', ...LISTS, ...GETS) },
  {
    name: 'names with a capital letter',
    service: { contract: following({ list: '/%', get: '/%/{id}' }) },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'lists that end in "list", and a 403 at unknown paths',
    service: { contract: following({ list: '/*/list' }), unknown: () => failure(403, 'Unauthorized.') },
    expected: expectAll('differs', ...LISTS),
  },
  {
    name: 'resources that are read by "show", and pages at unknown paths',
    service: { contract: following({ get: '/*/show/{id}' }), unknown: () => page(404, 'Not Found') },
    expected: expectAll('differs', ...GETS),
  },
  {
    name: 'audiences that differ alone',
    service: { contract: following({ list: '/*', get: '/?/{id}' }, ['audiences']) },
    expected: expectAll('differs', 'path:audiences.list', ...OF_AUDIENCES),
  },
  {
    name: 'projects that differ alone',
    service: { contract: following({ list: '/*', get: '/?/{id}' }, ['projects']) },
    expected: expectAll('differs', 'path:projects.list', 'path:projects.get'),
  },
  {
    name: 'names that nobody can guess',
    service: { contract: OWN_NAMES },
    expected: { ...expectAll('unfound', ...LISTS, ...GETS), ...NOTHING_LISTED },
    works: false,
  },
  {
    name: 'audiences of a name that nobody can guess',
    service: { contract: following({ list: '/segments/*/overview', get: '/segments/?/{id}/card' }, ['audiences']) },
    expected: {
      ...expectAll('unfound', 'path:audiences.list', ...OF_AUDIENCES),
      // The other lists are too short for the largest page.
      ...expectAll('not-checked', 'shape:audience', 'page-size'),
    },
    works: false,
  },
  {
    name: 'lookalikes at another path',
    service: {
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
    expected: { 'path:lookalikes.get': 'differs' },
  },
  {
    name: 'a redirect to the lists',
    service: {
      contract: following({ list: '/*' }),
      traits: [redirects(/^(\/api\/v2\/(?!webhooks)\w+)\/index$/, '$1')],
    },
    expected: expectAll('differs', ...LISTS),
  },
  {
    name: 'projects at whose path audiences are listed',
    service: {
      traits: [
        () => ({
          read: (call) => (call.operation === 'projects.list' ? { ...call, operation: 'audiences.list' } : call),
        }),
      ],
    },
    expected: { 'path:projects.list': 'unfound', ...expectAll(OPEN, 'path:projects.get', 'shape:project') },
    works: false,
  },
  {
    name: 'paths that end in .json',
    service: { contract: following({ list: '/*.json', get: '/*/{id}.json' }), unknown: () => page(404, 'Not Found') },
    expected: { ...expectAll('unfound', ...LISTS, ...GETS), ...NOTHING_LISTED },
    works: false,
  },
  {
    name: 'paths that end in a slash, and redirects to them',
    service: {
      contract: TRAILING_SLASH,
      traits: [redirects(/^(\/api\/v2\/(?!webhooks|usage)[a-z]+\/(?:index|\d+))$/, '$1/', 308)],
    },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'a prefix, and redirects to paths with a slash at the end',
    service: {
      basePath: '/gateway/v9',
      contract: TRAILING_SLASH,
      traits: [redirects(/^(\/api\/v2\/(?!webhooks|usage)[a-z]+\/(?:index|\d+))$/, '/gateway/v9$1/', 308)],
    },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'no schedules at all',
    service: { missing: ['schedules.list', 'schedules.get'] },
    expected: { 'path:schedules.list': 'unfound', 'path:schedules.get': OPEN, 'shape:schedule': OPEN },
    works: false,
  },
];

const unknownPaths: readonly Variant[] = [
  {
    name: 'a page with status 200 at every unknown path',
    service: { contract: following({ list: '/*' }), unknown: () => page(200, 'Console') },
    expected: expectAll('differs', ...LISTS),
  },
  {
    name: 'a page with status 403 at every unknown path',
    service: { contract: SINGULAR, unknown: () => page(403, 'Forbidden') },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'a 403 at every unknown path, and names that nobody can guess',
    service: { contract: OWN_NAMES, unknown: () => failure(403, 'Unauthorized.') },
    // A 403 is not evidence about a path.
    expected: { ...expectAll('not-checked', ...LISTS, ...GETS), ...NOTHING_LISTED },
    mayStop: 12,
  },
  {
    name: 'a cloud gateway that asks for a token at unknown paths',
    service: {
      contract: { ...REST, requestIdHeader: 'x-amzn-requestid' },
      unknown: () => json(403, { message: 'Missing Authentication Token' }),
    },
    expected: { ...expectAll('differs', ...LISTS), 'request-id-header': 'unfound' },
  },
  {
    name: '405 with Allow at unknown paths',
    service: {
      contract: REST,
      unknown: ({ path }) => ({ ...failure(405, `Not supported for ${path}.`), headers: { allow: 'POST' } }),
    },
    expected: expectAll('differs', ...LISTS),
  },
  {
    name: 'the same 404 for resources and paths',
    service: { contract: following({ get: '/?/{id}' }), unknown: () => failure(404, 'Resource not found.') },
    expected: expectAll('differs', ...GETS),
  },
  { name: 'empty lists at every unknown path', service: { unknown: () => success([]) } },
  {
    name: 'empty lists at every unknown path, and an empty account',
    service: { unknown: () => success([]), isFilled: false },
    expected: { ...expectAll('not-checked', ...LISTS, ...ROWS, ...SHAPES, 'statuses'), ...expectAll(OPEN, ...GETS) },
  },
  {
    name: 'an empty account',
    service: { isFilled: false },
    expected: { ...expectAll('not-checked', ...ROWS, ...SHAPES, 'statuses'), ...expectAll(OPEN, ...GETS) },
  },
  { name: 'a list that begins with a resource which is gone', service: { traits: [listsGone('audiences', 1)] } },
  {
    name: 'audiences that are all gone when they are read',
    service: { traits: [listsGone('audiences', 1_000)] },
    // Rows of other kinds can be compared.
    expected: { ...expectAll(OPEN, ...OF_AUDIENCES, 'shape:audience'), 'waits.via': ['confirmed', ...OPEN] },
  },
  {
    name: 'lists with two arrays, of which none has a row',
    service: { isFilled: false, traits: [changes(LIST, (body) => ({ ...body, data: { items: [], results: [] } }))] },
    expected: {
      ...expectAll('unfound', ...LISTS),
      ...expectAll(OPEN, ...GETS),
      ...expectAll('not-checked', ...SHAPES, ...ROWS, 'statuses'),
    },
    works: false,
  },
  {
    name: 'an account with one resource of each kind',
    service: { paging: { total: 1 } },
    expected: expectAll(OPEN, 'paging', 'page-size', 'path:lookalikes.get'),
  },
];

const paging: readonly Variant[] = [
  ...[
    { name: 'lists by offset and limit', paging: offset },
    {
      name: 'lists by a cursor',
      paging: { style: 'cursor', param: 'cursor', size: 'limit', next: 'meta.next_cursor' } as const,
    },
    { name: 'pages whose size is page_size', paging: { ...pages, size: 'page_size' } },
    { name: 'pages by page_number and page_size', paging: { ...pages, param: 'page_number', size: 'page_size' } },
  ].map((one) => ({
    name: one.name,
    service: { contract: { paging: one.paging } },
    expected: { paging: 'differs' as const },
  })),
  {
    name: 'lists by offset and limit, in pages of 50',
    service: { contract: { paging: { ...offset, maxSize: 50 } } },
    expected: expectAll('differs', 'paging', 'page-size'),
  },
  {
    name: 'pages whose size is perPage, of 50 rows at most',
    service: { contract: { paging: { ...pages, size: 'perPage', maxSize: 50 } } },
    expected: expectAll('differs', 'paging', 'page-size'),
  },
  {
    name: 'pages of 50 rows at most',
    service: { contract: { paging: { ...pages, maxSize: 50 } } },
    expected: { 'page-size': 'differs' },
  },
  {
    name: 'a 422 for pages of more than 50 rows',
    service: { contract: { paging: { ...pages, maxSize: 50 } }, paging: { refusesLarge: true } },
    expected: { 'page-size': 'differs' },
  },
  {
    name: 'pages of 25 rows, whatever is requested',
    service: { contract: { paging: { ...pages, maxSize: 25 } }, paging: { isFixed: true } },
    expected: { paging: ['confirmed', 'differs', 'not-checked'], 'page-size': 'differs' },
  },
  {
    name: 'pages that are counted from zero',
    service: { paging: { firstPage: 0 } },
    // The second page is there, and the first one is left out: no setting says so.
    expected: { paging: 'unfound', 'page-size': ['confirmed', ...OPEN] },
    works: false,
  },
  {
    name: 'a cursor in the address of the next page',
    service: {
      contract: { paging: { style: 'cursor', param: 'cursor', size: 'per_page', next: 'links.next' } },
      paging: { nextLink: (cursor) => `${ORIGIN}/api/v2/next?per_page=25&cursor=${encodeURIComponent(cursor)}` },
    },
    expected: { paging: 'differs' },
  },
  {
    name: 'a next page that only the header Link names',
    service: {
      contract: { paging: { style: 'cursor', param: 'cursor', size: 'limit', next: 'meta.next_cursor' } },
      traits: [changes(LIST, ({ meta, ...body }) => body)],
    },
    expected: { paging: 'unfound', 'page-size': ['confirmed', 'not-checked'] },
    works: false,
  },
  {
    name: 'rows below data.items, resources as objects below data',
    service: { contract: placing({ list: 'data.items', get: 'data.item' }) },
    expected: expectAll('differs', ...LIST_PLACES, ...GET_PLACES, 'data:lookalikes.get'),
  },
  {
    name: 'rows and resources below their own names',
    service: { contract: placing({ list: 'data.*', get: 'data.?' }) },
    expected: expectAll('differs', ...LIST_PLACES, ...GET_PLACES, 'data:lookalikes.get'),
  },
  {
    name: 'rows below data.data, in the singular and by offset',
    service: { contract: merge(SINGULAR, placing({ list: 'data.data' }), { paging: offset }) },
    expected: expectAll('differs', ...LISTS, ...GETS, ...LIST_PLACES, 'paging'),
  },
  {
    name: 'a paginator of Laravel below data',
    service: {
      contract: placing({ list: 'data.data' }),
      traits: [
        changes(LIST, (body) => ({
          ...body,
          data: { current_page: 1, ...Object(body.data), links: [{ label: '1' }] },
        })),
      ],
    },
    expected: expectAll('differs', ...LIST_PLACES),
  },
  {
    name: 'collections of Laravel with links and meta, and single resources as objects',
    service: {
      traits: [
        changes(LIST, (body) => ({ ...body, links: { prev: null, next: null }, meta: { current_page: 1, links: [] } })),
        changes(/(?<!usage)\.get$/, (body) => ({ ...body, data: [body.data].flat()[0] })),
      ],
    },
  },
  {
    name: 'an audience that another program creates before a page of one row',
    service: { traits: [createsMeanwhile(2)] },
    leaves: 1,
  },
  {
    name: 'an audience that another program creates before the second page',
    service: { traits: [createsMeanwhile(3)] },
    leaves: 1,
  },
  {
    name: 'second pages that fail',
    service: { traits: [answers(({ query }) => (query.has('page') ? page(502, 'Bad Gateway') : undefined))] },
    expected: expectAll('not-checked', 'paging', 'page-size'),
  },
];

const contents: readonly Variant[] = [
  {
    name: 'lists without status',
    service: { contract: { waits: { via: 'get' } } },
    expected: { 'waits.via': 'differs' },
  },
  {
    name: 'a status id for failures that is not documented',
    service: {
      contract: { statuses: { 'audience 106': 'failed' } },
      traits: [
        shows((resource, { operation = '' }) =>
          operation.startsWith('audiences') && Object(resource.status).id === 107
            ? { ...resource, status: { id: 106, name: 'Failed' } }
            : resource,
        ),
      ],
    },
    expected: { statuses: ['likely', 'differs'] },
  },
  {
    name: 'a report that fails for a future month',
    service: {
      traits: [answers(({ query }) => ((query.get('yearmonth') ?? '') > '2026-12' ? page(500, 'Error') : undefined))],
    },
    // A failure is not a refusal.
    expected: expectAll('not-checked', 'usage.yearmonth', 'errors.422'),
  },
  {
    name: 'months as 202611',
    service: {
      traits: [
        answers(({ query }) => {
          const month = query.get('yearmonth');
          const isCompact = month === null || /^\d{6}$/.test(month);
          return isCompact ? undefined : failure(422, 'Invalid.', { errors: { yearmonth: ['Invalid.'] } });
        }),
      ],
    },
    expected: { 'usage.yearmonth': 'differs' },
  },
  {
    name: 'a budget with other fields, and the name of the company as a key',
    service: {
      traits: [
        changes(/^usage/, (body) => ({
          ...body,
          data: { ...Object(body.data), 'Canary Holdings': { 'CANARY team': 4 }, build_budget: { hourly_limit: 60 } },
        })),
      ],
    },
    expected: { 'usage.build_budget': 'differs' },
  },
  {
    name: 'a report without a build budget',
    service: { traits: [changes(/^usage/, (body) => ({ ...body, data: { yearmonth: '2026-11' } }))] },
    expected: { 'usage.build_budget': 'differs' },
  },
  {
    name: 'a request id in another header',
    service: { contract: { requestIdHeader: 'x-correlation-id' } },
    expected: { 'request-id-header': 'differs' },
  },
  {
    name: 'a request id that is always the same',
    service: {
      traits: [
        () => ({ write: (answer) => ({ ...answer, headers: { ...answer.headers, 'x-request-id': 'constant' } }) }),
      ],
    },
    expected: { 'request-id-header': 'unfound' },
  },
  {
    name: 'errors as problem details',
    service: { traits: [refuses(422, () => json(422, { type: 'about:blank', title: 'CANARY problem', status: 422 }))] },
    expected: { 'errors.422': 'differs' },
  },
  {
    name: 'a 422 whose errors are objects',
    service: {
      traits: [
        refuses(422, (answer) => withBody(answer, (body) => ({ ...body, errors: { yearmonth: { code: 'x' } } }))),
      ],
    },
    expected: { 'errors.422': 'differs' },
  },
  {
    name: 'ids that are UUIDs',
    service: {
      traits: [
        idsAs(
          (id) => `5f0c2d1e-0000-4000-8000-${id.toString(16).padStart(12, '0')}`,
          (id) => Number.parseInt(id.slice(-12), 16),
        ),
      ],
    },
    expected: expectAll('differs', ...SHAPES, 'shape:webhook'),
    works: false,
  },
  {
    name: 'ids that are strings of digits',
    service: { traits: [idsAs(String, Number)] },
    expected: expectAll('differs', ...SHAPES, 'shape:webhook'),
    works: false,
  },
  {
    name: 'statuses that are numbers',
    service: { traits: [statusAs(({ id }) => id)] },
    expected: { ...expectAll('differs', ...JOBS), ...expectAll('not-checked', 'waits.via', 'statuses') },
    works: false,
  },
  {
    name: 'statuses that are names, and times of ISO 8601 with fractions',
    service: { traits: [statusAs(({ name }) => name), isoTimes] },
    expected: { ...expectAll('differs', ...JOBS), ...expectAll('not-checked', 'waits.via', 'statuses') },
    works: false,
  },
  {
    name: 'fields in camelCase',
    service: {
      traits: [
        shows((resource) =>
          Object.fromEntries(Object.entries(resource).map(([name, value]) => [camelName(name), value])),
        ),
      ],
    },
    expected: { fields: 'differs' },
  },
  {
    name: 'rows below the name of the company',
    service: { traits: [changes(/^audiences\.list/, (body) => ({ ...body, data: { 'Canary Holdings': body.data } }))] },
    expected: {
      'path:audiences.list': 'differs',
      ...expectAll(OPEN, ...OF_AUDIENCES, 'shape:audience'),
      'page-size': ['confirmed', ...OPEN],
    },
    works: false,
  },
  {
    name: 'a get that returns another audience',
    service: {
      traits: [
        () => ({
          read: (call) => (call.operation === 'audiences.get' ? { ...call, id: String(Number(call.id) - 1) } : call),
        }),
      ],
    },
    expected: { ...expectAll('differs', ...OF_AUDIENCES), 'shape:audience': ['confirmed', ...OPEN] },
    works: false,
  },
  {
    name: 'a list of 20 MiB',
    service: {
      traits: [
        answers(({ path }) =>
          path.includes('/schedules/index') ? { status: 200, body: 'CANARY '.repeat(3 * 2 ** 20) } : undefined,
        ),
      ],
    },
    expected: { 'path:schedules.list': 'unfound', ...expectAll('not-checked', 'path:schedules.get', 'shape:schedule') },
    works: false,
  },
  {
    name: 'rows that have some of the fields',
    service: {
      traits: [
        shows(({ results_count, eligibility, dataset, source, datastreams, ...resource }, { operation = '' }) =>
          LIST.test(operation) ? resource : { ...resource, results_count, eligibility, dataset, source, datastreams },
        ),
      ],
    },
    expected: expectAll(
      ['confirmed', 'differs'],
      'shape:project',
      'shape:schedule',
      'shape:audience',
      'shape:cohort',
      'shape:activation',
    ),
  },
  {
    name: 'audiences without a count, and with the name of their project',
    service: {
      traits: [
        shows(({ results_count, ...resource }, { operation }) =>
          operation === 'audiences.get' ? { ...resource, project: 'CANARY' } : { ...resource, results_count },
        ),
      ],
    },
    expected: { 'shape:audience': 'differs' },
  },
];

const refusing: readonly Variant[] = [
  {
    name: 'a service that blocks after ten refusals',
    service: { contract: OWN_NAMES, traits: [blocks(10)] },
    expected: { ...expectAll('unfound', ...LISTS, ...GETS), ...NOTHING_LISTED },
    stopped: 12,
  },
  {
    name: 'a service that blocks after four refusals',
    service: { contract: SINGULAR, traits: [blocks(4, failure(403, 'Blocked.'))] },
    // Rows were seen before the block.
    expected: { ...expectAll(['differs', 'not-checked'], ...LISTS, ...GETS), ...expectAll(OPEN, ...SHAPES) },
    stopped: 12,
  },
  {
    name: 'a gateway that bans after the first refusal',
    service: { contract: following({ get: '/?/{id}' }), traits: [blocks(1, failure(403, 'Banned.'))] },
    expected: expectAll(['differs', 'not-checked'], ...GETS),
    stopped: 12,
  },
  ...[page(200, 'Access denied'), { ...page(302, 'Access denied'), headers: { location: '/blocked' } }].map(
    (answer) => ({
      name: `a firewall that responds with ${answer.status} after six refusals`,
      service: { contract: EVERYTHING, traits: [blocks(6, answer)] },
      expected: {
        ...expectAll('unfound', ...LISTS),
        ...expectAll(['confirmed', ...OPEN], ...GETS, ...SHAPES, ...ROWS, 'statuses'),
      },
      stopped: 12,
    }),
  ),
  { name: 'a 429 for 20 seconds', service: { traits: [throttles(9, 10, () => '20')] } },
  {
    name: 'a 429 until a date',
    service: { traits: [throttles(6, 6, (now) => new Date(now + 45_000).toUTCString())] },
  },
  { name: 'a 429 for an hour', service: { traits: [throttles(6, 1_000, () => '3600')] }, stopped: 9 },
  {
    name: 'four seconds for each response',
    service: { traits: [answers((_, service) => void service.pass(4_000))] },
  },
  {
    name: 'a token that is not valid',
    service: { token: 'canary-invalid' },
    expected: { service: 'not-checked' },
    stopped: 7,
  },
  {
    name: 'the address of a web page',
    service: { traits: [answers(() => page(200, 'Console'))] },
    expected: { service: 'not-checked' },
    stopped: 1,
  },
  {
    name: 'responses without an envelope',
    service: { traits: [changes(/./, (body) => body.data)] },
    expected: { service: 'not-checked' },
    stopped: 1,
  },
  {
    name: 'a role that may not see cohorts and activations',
    service: {
      traits: [answers(({ path }) => (/cohorts|activations/.test(path) ? failure(403, 'Your role.') : undefined))],
    },
    expected: expectAll(
      OPEN,
      ...['path:cohorts.list', 'path:cohorts.get', 'path:activations.list', 'path:activations.get'],
      ...['shape:activation', 'shape:cohort'],
    ),
  },
  {
    name: 'a list and a report that fail at first',
    service: { traits: [fails('audiences.list', { status: 500 }), fails('usage.get', { status: 503 })] },
  },
];

const writing: readonly Variant[] = [
  { name: 'writes that are as assumed' },
  {
    name: 'writes at other paths, which are not guessed',
    service: { contract: REST },
    expected: {
      ...expectAll('differs', ...LISTS, 'path:projects.create', 'path:uploads.reserve'),
      ...expectAll('not-checked', ...OF_PROJECT.slice(1), 'uploads.reservation'),
    },
    works: false,
  },
  {
    name: 'times of a zone in the west',
    service: { contract: { serverTimeZone: 'Etc/GMT+5' } },
    expected: { 'time-zone': 'differs' },
  },
  {
    name: 'times of a zone that is half an hour off',
    service: { contract: { serverTimeZone: '+05:30' } },
    expected: { 'time-zone': 'differs' },
  },
  { name: 'a database whose clock is six minutes slow', service: { traits: [movesTimes(-6)] } },
  { name: 'times as ISO 8601', service: { traits: [isoTimes] }, expected: { 'time-zone': 'not-checked' } },
  {
    name: 'a reservation with other fields',
    service: {
      traits: [changes(/^uploads/, ({ data, ...body }) => ({ ...body, data: { upload_url: Object(data).url } }))],
    },
    expected: { 'uploads.reservation': 'differs' },
  },
  {
    name: 'idempotency keys that are ignored',
    service: {
      contract: { operations: { 'projects.create': { retry: 'never' } } },
      traits: [() => ({ read: (call) => ({ ...call, headers: new Headers() }) })],
    },
    expected: { 'idempotency:projects.create': 'differs' },
  },
  {
    name: 'idempotency keys that replay another body',
    service: { traits: [refuses(409, () => success([]))] },
    expected: { 'idempotency:projects.create': 'differs' },
  },
  {
    name: 'a 409 for another body whose message speaks of a create in progress',
    service: { traits: [refuses(409, () => failure(409, 'A request with this key is in progress.'))] },
  },
  { name: 'a 409 for another body without a message', service: { traits: [refuses(409, () => failure(409, ''))] } },
  {
    name: 'a 422 for a key that was used with another body',
    service: { traits: [refuses(409, () => failure(422, 'Refused.', { errors: { key: ['Used.'] } }))] },
    expected: { 'idempotency:projects.create': 'differs' },
  },
  { name: 'a 502 after the project was created', service: { traits: [fails('projects.create')] } },
  {
    name: 'a project whose create is never answered',
    service: { traits: [fails('projects.create', { after: 60_000 })] },
  },
  {
    name: 'a 502 for every project, which are not created',
    service: { traits: [fails('projects.create', { acts: false, times: 100 })] },
    expected: expectAll('not-checked', ...OF_PROJECT),
  },
  {
    name: 'a 502 for every project, which are created',
    service: { traits: [fails('projects.create', { times: 100 })] },
    expected: { ...expectAll('not-checked', ...OF_PROJECT), 'path:projects.delete': 'confirmed' },
  },
  {
    name: 'projects that cannot be deleted',
    service: { missing: ['projects.delete'] },
    expected: { 'path:projects.delete': 'differs' },
    leaves: 1,
    works: false,
  },
  {
    name: 'deletes that succeed and delete nothing',
    service: { traits: [answers(({ operation }) => (operation === 'projects.delete' ? success([]) : undefined))] },
    expected: { 'path:projects.delete': 'differs' },
    leaves: 1,
    works: false,
  },
  {
    name: 'deleted projects that the list has lost, and that can still be read',
    service: {
      traits: [
        () => {
          const shown = new Map<string, JsonObject>();
          return {
            resource(resource) {
              shown.set(String(resource.id), resource);
              return resource;
            },
            write: (answer, { operation, id }) =>
              operation === 'projects.get' && answer.status === 404 ? success([shown.get(id)]) : answer,
          };
        },
      ],
    },
  },
  {
    name: 'a replica that shows a project four seconds late',
    service: {
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
  },
  {
    name: 'projects that are named by a title',
    service: {
      traits: [
        answers(({ operation, body }) =>
          operation === 'projects.create' && Object(body).title === undefined
            ? failure(422, 'Invalid.', { errors: { title: ['Required.'] } })
            : undefined,
        ),
      ],
    },
    expected: { 'path:projects.create': 'differs', ...expectAll('not-checked', ...OF_PROJECT.slice(1)) },
  },
  {
    name: 'a token that may only read',
    service: { traits: [answers(({ method }) => (method === 'GET' ? undefined : failure(403, 'Read only.')))] },
    expected: expectAll('not-checked', ...OF_PROJECT, 'path:uploads.reserve', 'uploads.reservation'),
    mayStop: 12,
  },
  {
    name: 'creates with 201, and deletes with 204',
    service: {
      traits: [
        () => ({
          write(answer, { operation = '' }) {
            if (operation.endsWith('.delete')) return { status: 204, body: '' };
            return operation.endsWith('.create') && answer.status === 200 ? { ...answer, status: 201 } : answer;
          },
        }),
      ],
    },
  },
  {
    name: 'a 409 for every key that was used',
    service: {
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
    },
    expected: { 'idempotency:projects.create': 'unfound' },
  },
  {
    name: 'a create that returns a project which existed before, and creates nothing',
    service: { traits: [answersCreate((_, existing) => success([existing]), { acts: false })] },
    expected: { 'path:projects.create': 'differs', ...expectAll('not-checked', ...OF_PROJECT.slice(1)) },
    works: false,
  },
  {
    name: 'a create that returns a project which existed before, beside the one it creates',
    service: { traits: [answersCreate((_, existing) => success([existing]))] },
    expected: { 'path:projects.create': 'differs' },
    works: false,
  },
  {
    name: 'a create that returns the id of a job, which is that of another project',
    service: {
      contract: { operations: { 'projects.create': { data: 'data.project' } } },
      traits: [answersCreate((created, { id }) => success({ id, ...created }))],
    },
    expected: { 'data:projects.create': 'differs' },
  },
  ...[success([]), { status: 202, body: '' }].map((answer) => ({
    name: `a create with ${answer.status} that returns no id`,
    service: { traits: [answersCreate(() => answer)] },
    expected: { 'path:projects.create': 'differs' as const },
    works: false,
  })),
];

/** The services that `aud check` is tried against, with what it must report about each. */
export const variants: readonly Variant[] = [
  ...[...paths, ...unknownPaths, ...paging, ...contents, ...refusing],
  ...writing.map((variant) => ({ ...variant, writes: true })),
];
