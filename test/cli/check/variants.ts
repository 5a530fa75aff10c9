import { ACTIONS, following, merge, OWN_NAMES, placing, REST, SINGULAR } from './support/contracts.ts';
import { failure, page } from './support/exchange.ts';
import {
  BODIES,
  expectAll,
  OPEN,
  ofEach,
  PUBLISHED,
  SHAPES,
  TRIED_CREATES,
  type Variant,
  WRITE_PATHS,
} from './support/expectations.ts';
import { publishesOpenApi } from './support/publications.ts';
import {
  answers,
  answersLate,
  bareBodies,
  blocks,
  changesData,
  compactMonths,
  confuses,
  errorBody,
  fails,
  idInBody,
  ignoresBodiesOfKeys,
  ignoresKeys,
  listsGone,
  mapsText,
  namesFields,
  neverAnswers,
  problem,
  redirects,
  refusesOtherKind,
  sendsHeader,
  statusIds,
  throttles,
  uploadNeeds,
} from './support/traits.ts';
import { unknownPaths } from './support/unknown-paths.ts';

const LISTS = ofEach('path', 'list');
const GETS = [...ofEach('path', 'get'), 'path:lookalikes.get'];
const PLACES = [...ofEach('data', 'list'), ...ofEach('data', 'get'), 'data:lookalikes.get'];

/** Findings that need a project of the check. */
const NEEDS_PROJECT = [
  'path:projects.create',
  'path:projects.delete',
  'body:projects.create',
  'time-zone',
  'idempotency:projects.create',
];

/** Findings that need resources. */
const NEEDS_ROWS = ['paging', 'page-size', 'waits.via', 'path:lookalikes.get'];

const pathVariants: readonly Variant[] = [
  { name: 'a service that is as assumed', level: 'read' },
  {
    name: 'lists at the name of the resource, where "index" is an id',
    level: 'read',
    service: { contract: REST },
    expected: expectAll('differs', ...LISTS),
  },
  {
    name: 'names of resources in the singular',
    level: 'read',
    service: { contract: SINGULAR },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'lists that end in "list"',
    level: 'read',
    service: { contract: following({ list: '/*/list' }), unknown: unknownPaths.json403 },
    expected: expectAll('differs', ...LISTS),
  },
  {
    name: 'resources that are read by "show", below pages for unknown paths',
    level: 'read',
    service: { contract: ACTIONS, unknown: unknownPaths.html404 },
    expected: expectAll('differs', ...GETS),
  },
  {
    name: 'audiences that differ alone',
    level: 'read',
    service: { contract: following({ list: '/*', get: '/?/{id}' }, ['audiences']) },
    expected: expectAll('differs', 'path:audiences.list', 'path:audiences.get', 'path:lookalikes.get'),
  },
  {
    name: 'projects that differ alone',
    level: 'read',
    service: { contract: following({ list: '/*', get: '/?/{id}' }, ['projects']) },
    expected: expectAll('differs', 'path:projects.list', 'path:projects.get'),
  },
  {
    name: 'names that nobody can guess',
    level: 'read',
    service: { contract: OWN_NAMES },
    expected: {
      ...expectAll('unfound', ...LISTS, ...GETS),
      ...expectAll('not-checked', 'path:estimates.get', 'statuses', ...NEEDS_ROWS.slice(0, 3), ...SHAPES),
    },
    works: false,
  },
  {
    name: 'audiences of a name that nobody can guess',
    level: 'read',
    service: { contract: following({ list: '/segments/*/overview', get: '/segments/?/{id}/card' }, ['audiences']) },
    expected: {
      ...expectAll('unfound', 'path:audiences.list', 'path:audiences.get', 'path:lookalikes.get'),
      'shape:audience': 'not-checked',
      // The other lists are too short for the largest page.
      'page-size': 'not-checked',
    },
    works: false,
  },
  {
    name: 'lookalikes at another path',
    level: 'read',
    service: {
      contract: { operations: { 'lookalikes.get': { path: '/api/v2/lookalikes/{id}' } } },
      traits: [refusesOtherKind],
    },
    expected: { 'path:lookalikes.get': 'differs' },
  },
  {
    name: 'a redirect to the lists',
    level: 'read',
    service: {
      contract: following({ list: '/*' }),
      traits: [redirects(/^(\/api\/v2\/(?!webhooks)\w+)\/index$/, '$1')],
    },
    expected: { ...expectAll('differs', ...LISTS) },
  },
  {
    name: 'projects at whose path audiences are listed',
    level: 'read',
    service: { traits: [confuses('projects.list', 'audiences.list')] },
    expected: { 'path:projects.list': 'unfound', 'path:projects.get': OPEN, 'shape:project': OPEN },
    works: false,
  },
];

const unknownPathVariants: readonly Variant[] = [
  {
    name: 'a page with status 200 at every unknown path',
    level: 'read',
    service: { contract: following({ list: '/*' }), unknown: unknownPaths.html200 },
    expected: expectAll('differs', ...LISTS),
  },
  {
    name: 'a page with status 403 at every unknown path',
    level: 'read',
    service: { contract: SINGULAR, unknown: unknownPaths.html403 },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'a 403 at every unknown path, and names that nobody can guess',
    level: 'read',
    service: { contract: OWN_NAMES, unknown: unknownPaths.json403 },
    expected: {
      // A 403 is not evidence about a path.
      ...expectAll(
        'not-checked',
        ...LISTS,
        ...GETS,
        'path:estimates.get',
        'statuses',
        ...NEEDS_ROWS.slice(0, 3),
        ...SHAPES,
      ),
    },
    mayStop: 12,
  },
  {
    name: '405 with Allow at paths with another method',
    level: 'read',
    service: { contract: REST, unknown: unknownPaths.allow405 },
    expected: { ...expectAll('differs', ...LISTS), ...expectAll(OPEN, ...WRITE_PATHS) },
  },
  {
    name: 'the same 404 for resources and paths',
    level: 'read',
    service: {
      contract: following({ get: '/?/{id}' }),
      unknown: unknownPaths.sameAsResource,
      traits: [errorBody(404, () => failure(404, 'Resource not found.'))],
    },
    expected: expectAll('differs', ...GETS),
  },
  {
    name: 'empty lists at every unknown path',
    level: 'read',
    service: { unknown: unknownPaths.emptyLists },
  },
  {
    name: 'empty lists at every unknown path, and an empty account',
    level: 'read',
    service: { unknown: unknownPaths.emptyLists, isFilled: false },
    expected: {
      ...expectAll('not-checked', ...LISTS, ...NEEDS_ROWS, ...SHAPES, 'statuses'),
      ...expectAll(OPEN, ...GETS),
    },
  },
  {
    name: 'an empty account',
    level: 'read',
    service: { isFilled: false },
    expected: {
      ...expectAll('not-checked', ...NEEDS_ROWS, ...SHAPES, 'statuses'),
      ...expectAll(OPEN, ...GETS),
    },
  },
  {
    name: 'a list that begins with a resource which is gone',
    level: 'read',
    service: { traits: [listsGone('audiences', 1), listsGone('projects', 1)] },
  },
  {
    name: 'audiences that are all gone when they are read',
    level: 'read',
    service: { traits: [listsGone('audiences', 1_000)] },
    expected: {
      ...expectAll(OPEN, 'path:audiences.get', 'path:lookalikes.get', 'shape:audience'),
      // Rows of other kinds can be compared.
      'waits.via': ['confirmed', ...OPEN],
    },
  },
];

const offset = { style: 'offset', param: 'offset', size: 'limit' } as const;

const pagingVariants: readonly Variant[] = [
  {
    name: 'lists by offset and limit',
    level: 'read',
    service: { contract: { paging: offset } },
    expected: { paging: 'differs' },
  },
  {
    name: 'lists by offset and limit, in pages of 50',
    level: 'read',
    service: { contract: { paging: { ...offset, maxSize: 50 } } },
    expected: { paging: 'differs', 'page-size': 'differs' },
  },
  {
    name: 'lists by a cursor',
    level: 'read',
    service: { contract: { paging: { style: 'cursor', param: 'cursor', size: 'limit', next: 'meta.next_cursor' } } },
    expected: { paging: 'differs' },
  },
  {
    name: 'pages whose size is page_size',
    level: 'read',
    service: { contract: { paging: { style: 'page', param: 'page', size: 'page_size' } } },
    expected: { paging: 'differs' },
  },
  {
    name: 'pages by page_number and page_size',
    level: 'read',
    service: { contract: { paging: { style: 'page', param: 'page_number', size: 'page_size' } } },
    expected: { paging: 'differs' },
  },
  {
    name: 'pages whose size is perPage, of 50 rows at most',
    level: 'read',
    service: { contract: { paging: { style: 'page', param: 'page', size: 'perPage', maxSize: 50 } } },
    expected: { paging: 'differs', 'page-size': 'differs' },
  },
  {
    name: 'pages of 50 rows at most',
    level: 'read',
    service: { contract: { paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 50 } } },
    expected: { 'page-size': 'differs' },
  },
  {
    name: 'a 422 for pages of more than 50 rows',
    level: 'read',
    service: {
      contract: { paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 50 } },
      paging: { refusesLarge: true },
    },
    expected: { 'page-size': 'differs' },
  },
  {
    name: 'rows below data.items, resources as objects below data',
    level: 'read',
    service: { contract: placing({ list: 'data.items', get: 'data.item' }) },
    expected: expectAll('differs', ...PLACES),
    maySkip: ['data:lookalikes.get'],
  },
  {
    name: 'rows and resources below their own names',
    level: 'read',
    service: { contract: placing({ list: 'data.*', get: 'data.?' }) },
    expected: expectAll('differs', ...PLACES),
    maySkip: ['data:lookalikes.get'],
  },
  {
    name: 'rows below data.data, in the singular and by offset',
    level: 'read',
    service: { contract: merge(SINGULAR, placing({ list: 'data.data' }), { paging: offset }) },
    expected: { ...expectAll('differs', ...LISTS, ...GETS, ...ofEach('data', 'list')), paging: 'differs' },
  },
];

const readVariants: readonly Variant[] = [
  {
    name: 'lists without status',
    level: 'read',
    service: { contract: { waits: { via: 'get' } } },
    expected: { 'waits.via': 'differs' },
  },
  {
    name: 'a status id for failures that is not documented',
    level: 'read',
    service: {
      contract: { statuses: { 'audience 106': 'failed' } },
      traits: [statusIds('audience', { 107: { id: 106, name: 'Failed' } })],
    },
    expected: { statuses: PUBLISHED },
  },
  {
    name: 'a report that fails for a future month',
    level: 'read',
    service: {
      traits: [
        answers(({ query }) => ((query.get('yearmonth') ?? '') > '2026-12' ? page(500, 'Server Error') : undefined)),
      ],
    },
    // A failure is not a refusal.
    expected: expectAll('not-checked', 'usage.yearmonth', 'errors.422'),
  },
  {
    name: 'second pages that fail',
    level: 'read',
    service: { traits: [answers(({ query }) => (query.has('page') ? page(502, 'Bad Gateway') : undefined))] },
    expected: expectAll('not-checked', 'paging', 'page-size'),
  },
  {
    name: 'months as 202611',
    level: 'read',
    service: { traits: [compactMonths] },
    expected: { 'usage.yearmonth': 'differs' },
  },
  {
    name: 'a budget with other fields, and the name of the company as a key',
    level: 'read',
    service: {
      traits: [
        changesData('usage.get', (data) => ({
          ...data,
          'Canary Holdings 5521': { 'CANARY team': 4 },
          build_budget: {
            hourly_limit: 60,
            hourly_count: 0,
            daily_limit: 300,
            daily_count: 4,
            retry_after_seconds: null,
          },
        })),
      ],
    },
    expected: { 'usage.build_budget': 'differs' },
  },
  {
    name: 'a request id in another header',
    level: 'read',
    service: { contract: { requestIdHeader: 'x-correlation-id' } },
    expected: { 'request-id-header': 'differs' },
  },
  {
    name: 'a request id that is always the same',
    level: 'read',
    service: { traits: [sendsHeader('x-request-id', 'constant')] },
    expected: { 'request-id-header': 'unfound' },
  },
  {
    name: 'errors as problem details',
    level: 'read',
    service: { traits: [errorBody(422, () => problem(422))] },
    expected: { 'errors.422': 'differs' },
  },
];

const publishedVariants: readonly Variant[] = [
  {
    name: 'an OpenAPI document, which is not read',
    level: 'read',
    service: { contract: ACTIONS, traits: [publishesOpenApi(ACTIONS)] },
    expected: { ...expectAll('differs', ...GETS), ...expectAll(OPEN, ...WRITE_PATHS) },
  },
];

const refusingVariants: readonly Variant[] = [
  {
    name: 'a service that blocks after ten refusals',
    level: 'read',
    service: { contract: OWN_NAMES, traits: [blocks(10)] },
    expected: {
      ...expectAll('unfound', ...LISTS, ...GETS),
      ...expectAll('not-checked', 'path:estimates.get', 'statuses', ...NEEDS_ROWS.slice(0, 3), ...SHAPES),
    },
    stopped: 12,
  },
  {
    name: 'a service that blocks after four refusals',
    level: 'read',
    service: { contract: SINGULAR, traits: [blocks(4, failure(403, 'Blocked.'))] },
    expected: {
      ...expectAll(['differs', 'not-checked'], ...LISTS, ...GETS),
      // Rows were seen before the block.
      ...expectAll(OPEN, ...SHAPES),
    },
    stopped: 12,
  },
  { name: 'a 429 for 20 seconds', level: 'read', service: { traits: [throttles(9, 10, '20')] } },
  {
    name: 'a 429 until a date',
    level: 'read',
    service: { traits: [throttles(6, 6, (now) => new Date(now + 45_000).toUTCString())] },
  },
  {
    name: 'a 429 for an hour',
    level: 'read',
    service: { traits: [throttles(6, 1_000, '3600')] },
    stopped: 9,
  },
  {
    name: 'a token that is not valid',
    level: 'read',
    service: { token: 'canary-invalid-token' },
    expected: { service: ['differs', 'not-checked'] },
    stopped: 7,
  },
  {
    name: 'the address of a web page',
    level: 'read',
    service: { traits: [answers(() => page(200, 'Console'))] },
    expected: { service: ['differs', 'not-checked'] },
    stopped: 1,
  },
  {
    name: 'responses without an envelope',
    level: 'read',
    service: { traits: [bareBodies] },
    expected: { service: ['differs', 'not-checked'] },
    stopped: 1,
  },
];

const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const restWrites = ['path:projects.create', 'path:projects.delete', 'path:uploads.reserve', ...TRIED_CREATES];

const writeVariants: readonly Variant[] = [
  { name: 'writes that are as assumed', level: 'write' },
  {
    name: 'writes by nouns and DELETE',
    level: 'write',
    service: { contract: REST },
    expected: expectAll('differs', ...LISTS, ...restWrites),
  },
  {
    name: 'deletes with the verb before the id',
    level: 'write',
    service: { contract: ACTIONS },
    expected: expectAll('differs', ...GETS, 'path:projects.delete'),
  },
  {
    name: 'times of a zone in the west',
    level: 'write',
    service: { contract: { serverTimeZone: 'Etc/GMT+5' } },
    expected: { 'time-zone': 'differs' },
  },
  {
    name: 'times of a zone that is half an hour off',
    level: 'write',
    service: { contract: { serverTimeZone: '+05:30' } },
    expected: { 'time-zone': 'differs' },
  },
  {
    name: 'times as ISO 8601',
    level: 'write',
    service: { traits: [mapsText((text) => (TIMESTAMP.test(text) ? `${text.replace(' ', 'T')}.000Z` : text))] },
    // Without the documented form, there is no zone to find.
    expected: { 'time-zone': 'not-checked' },
  },
  {
    name: 'a reservation with other fields',
    level: 'write',
    service: {
      traits: [
        changesData('uploads.reserve', ({ reference, url, expires_at }) => ({
          upload_id: reference,
          upload_url: url,
          expires: expires_at,
        })),
      ],
    },
    expected: { 'uploads.reservation': 'differs', 'uploads.put': ['confirmed', 'not-checked'] },
  },
  {
    name: 'a storage that needs a header with the file',
    level: 'write',
    service: { traits: [uploadNeeds('x-amz-server-side-encryption')] },
    expected: { 'uploads.put': 'differs' },
  },
  {
    name: 'idempotency keys that are ignored',
    level: 'write',
    service: { contract: { operations: { 'projects.create': { retry: 'never' } } }, traits: [ignoresKeys] },
    expected: { 'idempotency:projects.create': 'differs' },
  },
  {
    name: 'idempotency keys that replay another body',
    level: 'write',
    service: { traits: [ignoresBodiesOfKeys] },
    expected: { 'idempotency:projects.create': 'differs' },
  },
  {
    name: 'a 409 for another body whose message speaks of a create in progress',
    level: 'write',
    service: { traits: [errorBody(409, () => failure(409, 'A request with this key is in progress.'))] },
    expected: { 'idempotency:projects.create': 'differs' },
  },
  {
    name: 'a 409 for another body without a message',
    level: 'write',
    service: { traits: [errorBody(409, () => failure(409, ''))] },
  },
  {
    name: 'a 422 for a key that was used with another body',
    level: 'write',
    service: { traits: [errorBody(409, () => failure(422, 'Refused.', { errors: { key: ['The key was used.'] } }))] },
    expected: { 'idempotency:projects.create': 'differs' },
  },
  {
    name: 'a 502 after the project was created',
    level: 'write',
    service: { traits: [fails('projects.create')] },
  },
  {
    name: 'a 502 for every project, which are not created',
    level: 'write',
    service: { traits: [fails('projects.create', { acts: false, times: 100 })] },
    expected: {
      ...expectAll('not-checked', ...NEEDS_PROJECT),
      ...expectAll(['confirmed', ...OPEN], ...TRIED_CREATES, ...BODIES.slice(1)),
      ...expectAll(['confirmed', ...OPEN], 'path:uploads.reserve', 'uploads.reservation', 'uploads.put'),
    },
    mayStop: 12,
  },
  {
    name: 'a project that takes 45 seconds',
    level: 'write',
    service: { traits: [answersLate('projects.create', 45_000)] },
  },
  {
    name: 'a project whose create is never answered',
    level: 'write',
    service: { traits: [neverAnswers('projects.create')] },
  },
  {
    name: 'projects that cannot be deleted',
    level: 'write',
    service: { missing: ['projects.delete'] },
    expected: {
      'path:projects.delete': 'unfound',
      // Nothing more is created if the path of the delete is not known.
      ...expectAll(OPEN, ...TRIED_CREATES),
      ...expectAll('not-checked', ...BODIES.slice(1)),
    },
    leaves: 1,
    works: false,
  },
  {
    name: 'projects that are deleted by an id in the body',
    level: 'write',
    service: {
      unsettable: { 'projects.delete': { path: '/api/v2/projects/delete' } },
      traits: [idInBody('projects.delete', 'id')],
    },
    expected: { 'path:projects.delete': 'unfound' },
    leaves: 1,
  },
  {
    name: 'projects that are named by a title',
    level: 'write',
    service: { traits: [namesFields('projects.create', { title: 'name' })] },
    expected: {
      'body:projects.create': 'differs',
      // Without the name, nothing proves that it is the check's own: it is left, and nothing more is created.
      ...expectAll(OPEN, 'path:projects.create', 'path:projects.delete', ...TRIED_CREATES),
      ...expectAll('not-checked', ...BODIES.slice(1), 'time-zone', 'idempotency:projects.create'),
    },
    leaves: 1,
  },
  {
    name: 'a token that may only read',
    level: 'write',
    service: {
      traits: [answers(({ method }) => (method === 'GET' ? undefined : failure(403, 'Read only.')))],
    },
    expected: {
      ...expectAll('not-checked', ...NEEDS_PROJECT, ...TRIED_CREATES, ...BODIES, 'path:uploads.reserve'),
      ...expectAll('not-checked', 'uploads.reservation', 'uploads.put'),
    },
    mayStop: 12,
  },
];

const buildVariants: readonly Variant[] = [
  { name: 'a build that is as assumed', level: 'build' },
  {
    name: 'a build by nouns and DELETE',
    level: 'build',
    service: { contract: REST },
    expected: expectAll('differs', ...LISTS, ...restWrites, 'path:audiences.delete'),
  },
  {
    name: 'a build under a key that is ignored',
    level: 'build',
    service: {
      contract: { operations: { 'projects.create': { retry: 'never' }, 'audiences.create': { retry: 'never' } } },
      traits: [ignoresKeys],
    },
    expected: {
      ...expectAll('differs', 'idempotency:projects.create', 'idempotency:audiences.create'),
    },
    builds: 2,
  },
  {
    name: 'audiences that cannot be deleted',
    level: 'build',
    service: { missing: ['audiences.delete'] },
    expected: { 'path:audiences.delete': 'unfound' },
    leaves: 1,
    works: false,
  },
  {
    name: 'a build that ends with a status id which is not documented',
    level: 'build',
    service: {
      contract: { statuses: { 'audience 120': 'completed' } },
      traits: [statusIds('audience', { 104: { id: 120, name: 'Completed' } })],
    },
    expected: { statuses: PUBLISHED },
  },
  {
    name: 'a build that cannot be made',
    level: 'build',
    prepare: (sandbox) => sandbox.jobs.next('audience', 107),
  },
];

/** The services that `audience-activation check` is tried against, with what it must report about each. */
export const variants: readonly Variant[] = [
  ...pathVariants,
  ...unknownPathVariants,
  ...pagingVariants,
  ...readVariants,
  ...publishedVariants,
  ...refusingVariants,
  ...writeVariants,
  ...buildVariants,
];
