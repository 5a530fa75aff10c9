import { following, merge, placing, REST } from './support/contracts.ts';
import { failure, json } from './support/exchange.ts';
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
import { ORIGIN } from './support/filled-account.ts';
import { publishesOpenApi } from './support/publications.ts';
import {
  allowsPerMinute,
  answers,
  checksNothing,
  createsWith201,
  deletesSoftly,
  deletesWith204,
  fails,
  mapsText,
  redirects,
  refusesUsedKeys,
  takes,
} from './support/traits.ts';
import { unknownPaths } from './support/unknown-paths.ts';

const LISTS = ofEach('path', 'list');
const GETS = [...ofEach('path', 'get'), 'path:lookalikes.get'];
const WRITTEN = ['path:projects.create', 'path:projects.delete', 'path:uploads.reserve', ...TRIED_CREATES];
const OF_ROWS = ['paging', 'page-size', 'waits.via', 'statuses', ...SHAPES];

/** Paths that end in a format, as some frameworks have them. */
const WITH_SUFFIX = following({
  list: '/*.json',
  get: '/*/{id}.json',
  create: '/*.json',
  delete: 'DELETE /*/{id}.json',
});

/** Paths that end in a slash, to which those without are redirected. */
const WITH_SLASH = following({ list: '/*/index/', get: '/*/{id}/' });

/** Moves a timestamp by minutes, as if the clocks of two servers differed. */
const skewed = (text: string, minutes: number): string =>
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)
    ? new Date(Date.parse(`${text.replace(' ', 'T')}Z`) + minutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')
    : text;

/** Further services, whose expectations were written without knowledge of the check. */
export const blindVariants: readonly Variant[] = [
  {
    name: 'resource controllers with a paginator, 405 and Allow',
    level: 'write',
    service: {
      contract: merge(REST, placing({ list: 'data.data' })),
      unknown: unknownPaths.allow405,
      traits: [createsWith201],
    },
    expected: expectAll('differs', ...LISTS, ...ofEach('data', 'list'), ...WRITTEN),
  },
  {
    name: 'a cloud gateway that asks for a token at unknown paths',
    level: 'write',
    service: {
      contract: { ...REST, requestIdHeader: 'x-amzn-requestid' },
      unknown: () => json(403, { message: 'Missing Authentication Token' }),
    },
    expected: { ...expectAll('differs', ...LISTS, ...WRITTEN), 'request-id-header': 'unfound' },
  },
  {
    name: 'paths that end in .json',
    level: 'read',
    service: { contract: WITH_SUFFIX, unknown: unknownPaths.html404 },
    expected: {
      ...expectAll('unfound', ...LISTS, ...GETS),
      ...expectAll('not-checked', ...OF_ROWS, 'path:estimates.get'),
    },
    works: false,
  },
  {
    name: 'pages that are counted from zero',
    level: 'read',
    service: { paging: { firstPage: 0 } },
    // The second page is there, and the first one is left out: no setting says so.
    expected: { paging: 'unfound', 'page-size': ['confirmed', ...OPEN] },
    works: false,
  },
  {
    name: 'pages of 25 rows, whatever is requested',
    level: 'read',
    service: {
      contract: { paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 25 } },
      paging: { isFixed: true },
    },
    expected: { paging: ['confirmed', 'differs', 'not-checked'], 'page-size': 'differs' },
  },
  {
    name: 'twenty-five requests a minute',
    level: 'read',
    service: { traits: [allowsPerMinute(25)] },
  },
  {
    name: 'four seconds for each response, in a zone in the east',
    level: 'write',
    service: { contract: { serverTimeZone: 'Etc/GMT-1' }, traits: [takes(4_000)] },
    expected: { 'time-zone': 'differs' },
  },
  {
    name: 'a database whose clock is six minutes slow',
    level: 'write',
    service: { traits: [mapsText((text) => skewed(text, -6))] },
  },
  {
    name: 'deleted projects that can still be read',
    level: 'write',
    service: { traits: [deletesSoftly('projects')] },
    expected: { 'path:projects.delete': ['confirmed', 'likely'] },
  },
  {
    name: 'no schedules at all',
    level: 'read',
    service: { missing: ['schedules.list', 'schedules.get', 'schedules.create', 'schedules.delete'] },
    expected: { 'path:schedules.list': 'unfound', 'path:schedules.get': ['differs', ...OPEN], 'shape:schedule': OPEN },
    works: false,
  },
  {
    name: 'a role that may not see cohorts and activations',
    level: 'write',
    service: {
      traits: [
        answers(({ operation }) =>
          /^(?:cohorts|activations)\./.test(operation ?? '')
            ? failure(403, 'Your role does not permit this.')
            : undefined,
        ),
      ],
    },
    expected: {
      ...expectAll(OPEN, 'path:cohorts.list', 'path:cohorts.get', 'path:activations.list', 'path:activations.get'),
      ...expectAll(OPEN, 'path:activations.create', 'body:activations.create', 'shape:activation', 'shape:cohort'),
    },
  },
  {
    name: 'an account with one resource of each kind',
    level: 'read',
    service: { paging: { total: 1 } },
    expected: expectAll(OPEN, 'paging', 'page-size', 'path:lookalikes.get'),
  },
  {
    name: 'an OpenAPI document whose paths are below its server',
    level: 'read',
    service: {
      contract: REST,
      unknown: unknownPaths.html404,
      traits: [publishesOpenApi(REST, '/api/v2/openapi.json', '/api/v2')],
    },
    expected: {
      ...expectAll('differs', ...LISTS),
      ...expectAll([...PUBLISHED, 'not-checked'], ...WRITE_PATHS),
      'path:lookalikes.cancel': OPEN,
      ...expectAll(OPEN, ...BODIES),
    },
  },
  {
    name: 'deletes with 204 and creates with 201',
    level: 'write',
    service: { contract: REST, traits: [createsWith201, deletesWith204] },
    expected: expectAll('differs', ...LISTS, ...WRITTEN),
  },
  {
    name: 'paths that end in a slash, and redirects to them',
    level: 'read',
    service: {
      contract: WITH_SLASH,
      traits: [redirects(/^(\/api\/v2\/(?!webhooks|usage)[a-z]+\/(?:index|\d+))$/, '$1/', 308)],
    },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'a cursor in the address of the next page',
    level: 'read',
    service: {
      contract: { paging: { style: 'cursor', param: 'cursor', size: 'per_page', next: 'links.next' } },
      paging: { nextLink: (cursor) => `${ORIGIN}/api/v2/next?per_page=25&cursor=${cursor}` },
    },
    expected: { paging: 'differs' },
  },
  {
    name: 'a 409 for every key that was used',
    level: 'write',
    service: { contract: { operations: { 'projects.create': { retry: 'never' } } }, traits: [refusesUsedKeys] },
    expected: { 'idempotency:projects.create': 'unfound' },
  },
  {
    name: 'a list and a report that fail at first',
    level: 'read',
    service: {
      traits: [fails('audiences.list', { status: 500, acts: false }), fails('usage.get', { status: 503, acts: false })],
    },
    expected: {
      ...expectAll(
        ['confirmed', ...OPEN],
        'path:audiences.list',
        'path:audiences.get',
        'path:lookalikes.get',
        'paging',
        'page-size',
        'usage.yearmonth',
        'usage.build_budget',
        'errors.422',
      ),
    },
  },
  {
    name: 'projects that are deleted in another way than audiences',
    level: 'build',
    service: { contract: { operations: { 'projects.delete': { method: 'DELETE', path: '/api/v2/projects/{id}' } } } },
    expected: { 'path:projects.delete': 'differs' },
  },
  {
    name: 'audiences that are created from any body',
    level: 'write',
    service: { traits: [checksNothing('audiences.create')] },
    expected: {
      'body:audiences.create': ['differs', ...OPEN],
      'path:audiences.delete': ['confirmed', ...OPEN],
      'idempotency:audiences.create': ['confirmed', 'not-checked'],
    },
    builds: 1,
  },
];
