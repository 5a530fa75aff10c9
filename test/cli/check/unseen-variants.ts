import type { OperationName } from '../../../src/spec/operations.ts';
import type { JsonObject } from '../../../src/spec/wire-values.ts';
import { isObject } from '../../../src/util/json.ts';
import { following, placing } from './support/contracts.ts';
import { type Call, failure, json, page, type Surroundings, type Trait, withBody } from './support/exchange.ts';
import { BODIES, expectAll, OPEN, ofEach, SHAPES, TRIED_CREATES, type Variant } from './support/expectations.ts';
import { routesOf } from './support/routes.ts';
import { answers, blocks, changesData, mapsText, redirects } from './support/traits.ts';

const LISTS = ofEach('path', 'list');
const GETS = [...ofEach('path', 'get'), 'path:lookalikes.get'];
const JOBS = ['shape:audience', 'shape:activation', 'shape:cohort'];
/** Findings that need a project of the check, whose create was sent. */
const OF_OWN = ['path:projects.delete', 'body:projects.create', 'time-zone', 'idempotency:projects.create'];
/** Findings about creates that follow the project. */
const LATER = [...TRIED_CREATES, ...BODIES.slice(1), 'path:uploads.reserve', 'uploads.reservation', 'uploads.put'];

const isList = ({ operation }: Call): boolean =>
  (operation?.endsWith('.list') ?? false) && operation !== 'webhooks.list';

/** Has other ids in resources, and reads them in paths. */
const idsAs = (shown: (id: number) => unknown, read: (id: string) => number) => (): Trait => ({
  read: (call) =>
    call.params.id === undefined ? call : { ...call, params: { ...call.params, id: String(read(call.params.id)) } },
  resource: (resource) => (typeof resource.id === 'number' ? { ...resource, id: shown(resource.id) } : resource),
});

/** Shows the status in another form. */
const statusAs = (form: (status: JsonObject) => unknown) => (): Trait => ({
  resource: (resource) => (isObject(resource.status) ? { ...resource, status: form(resource.status) } : resource),
});

/** Changes the body of each list. */
const changesLists =
  (change: (body: JsonObject) => JsonObject, names = /./) =>
  (): Trait => ({
    write: (answer, call) =>
      isList(call) && names.test(call.operation ?? '') && answer.status === 200 ? withBody(answer, change) : answer,
  });

/** Answers a create as a function says, from the resource that was created and those that were there before. */
const answersCreate =
  (respond: (created: JsonObject, existing: JsonObject) => ReturnType<typeof json>, { acts = true } = {}) =>
  (): Trait => ({
    async answer(call, surroundings) {
      if (call.operation !== 'projects.create') return undefined;
      const [existing = {}] = await rowsOf('projects.list', call, surroundings);
      const created = acts ? await surroundings.perform(call) : json(200, { data: [existing] });
      const data = isObject(created.body) && Array.isArray(created.body.data) ? created.body.data : [];
      return isObject(data[0]) ? respond(data[0], existing) : created;
    },
  });

async function rowsOf(operation: OperationName, call: Call, { perform }: Surroundings): Promise<readonly JsonObject[]> {
  const { body } = await perform({ ...call, method: 'GET', operation, query: new URLSearchParams(), body: undefined });
  return isObject(body) && Array.isArray(body.data) ? body.data.filter(isObject) : [];
}

const success = (data: unknown, fields: object = {}) =>
  json(200, { status: 'success', code: 200, message: 'Created.', ...fields, data });

/** Creates an audience for another program, just before a list of audiences is read for the nth time. */
const createsMeanwhile = (nth: number) => (): Trait => {
  let count = 0;
  return {
    async answer(call, { perform }) {
      if (call.operation !== 'audiences.list' || ++count !== nth) return undefined;
      const body = { name: 'CANARY of another program' };
      await perform({ ...call, method: 'POST', operation: 'audiences.create', query: new URLSearchParams(), body });
      return undefined;
    },
  };
};

const uuidOf = (id: number): string => `5f0c2d1e-0000-4000-8000-${id.toString(16).padStart(12, '0')}`;

const linked = { style: 'cursor', param: 'cursor', size: 'limit', next: 'meta.next_cursor' } as const;

/** Moves the next cursor of an envelope into the header `Link`. */
const linksPages = (): Trait => ({
  write(answer, call) {
    const { meta, ...body } = isObject(answer.body) ? answer.body : {};
    const next = isObject(meta) ? meta.next_cursor : undefined;
    if (!isList(call) || answer.status !== 200) return answer;
    const link = `<https://canary-host.example${call.path}?cursor=${next}>; rel="next"`;
    return { ...answer, headers: { ...answer.headers, ...(next ? { link } : {}) }, body };
  },
});

const LIBRARY = following(
  {
    list: '/workspace/*-library',
    get: '/workspace/*-library/{id}',
    create: '/workspace/*-library',
    delete: 'DELETE /workspace/*-library/{id}',
  },
  ['audiences'],
);

const LARAVEL_NAMES: Readonly<Record<string, string>> = {
  'audiences.list': 'audiences.index',
  'audiences.get': 'audiences.show',
  'audiences.create': 'audiences.store',
  'audiences.delete': 'audiences.destroy',
};

/** Publishes an OpenAPI document as Laravel's generators do: routes by their names, below the address of the API. */
const publishesLaravelRoutes = answers(({ path, method }) => {
  if (path !== '/docs/api.json' || method !== 'GET') return undefined;
  const paths: Record<string, JsonObject> = {};
  for (const route of routesOf(LIBRARY).filter(({ operation }) => operation in LARAVEL_NAMES)) {
    const below = route.path.slice('/api'.length).replace('{id}', '{audience}');
    paths[below] = {
      ...paths[below],
      [route.method.toLowerCase()]: { operationId: LARAVEL_NAMES[route.operation], tags: ['CANARY'] },
    };
  }
  return json(200, { openapi: '3.1.0', servers: [{ url: 'https://canary-host.example/api' }], paths });
});

/** A list of 20 MiB. */
const LARGE_LIST = JSON.stringify({ status: 'success', code: 200, message: 'CANARY '.repeat(3 * 2 ** 20), data: [] });

/** Services of which nothing was known to the check when their expectations were written. */
export const unseenVariants: readonly Variant[] = [
  {
    name: 'ids that are UUIDs',
    level: 'read',
    service: { traits: [idsAs(uuidOf, (id) => Number.parseInt(id.slice(-12), 16))] },
    expected: expectAll('differs', ...SHAPES, 'shape:webhook'),
    works: false,
  },
  {
    name: 'ids that are strings of digits',
    level: 'write',
    service: { traits: [idsAs(String, Number)] },
    expected: {
      ...expectAll('differs', ...SHAPES, 'shape:webhook'),
      'path:projects.create': ['confirmed', 'differs'],
    },
    works: false,
  },
  {
    name: 'statuses that are numbers',
    level: 'read',
    service: { traits: [statusAs(({ id }) => id)] },
    expected: { ...expectAll('differs', ...JOBS), ...expectAll('not-checked', 'waits.via', 'statuses') },
    works: false,
  },
  {
    name: 'statuses that are names, and times of ISO 8601 with fractions',
    level: 'read',
    service: {
      traits: [
        statusAs(({ name }) => name),
        mapsText((text) =>
          /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text) ? `${text.replace(' ', 'T')}.000000Z` : text,
        ),
      ],
    },
    expected: { ...expectAll('differs', ...JOBS), ...expectAll('not-checked', 'waits.via', 'statuses') },
    works: false,
  },
  {
    name: 'a paginator of Laravel below data',
    level: 'write',
    service: {
      contract: placing({ list: 'data.data' }),
      traits: [
        changesLists((body) => ({
          ...body,
          data: {
            current_page: 1,
            ...Object(body.data),
            first_page_url: 'https://canary-host.example/api/v2?page=1',
            links: [{ url: null, label: '1', active: true }],
            next_page_url: 'https://canary-host.example/api/v2?page=2',
            per_page: 25,
          },
        })),
      ],
    },
    expected: expectAll('differs', ...ofEach('data', 'list')),
  },
  {
    name: 'collections of Laravel with links and meta, and single resources as objects',
    level: 'read',
    service: {
      traits: [
        changesLists((body) => ({
          ...body,
          links: { first: 'https://canary-host.example/api/v2?page=1', prev: null, next: null },
          meta: { current_page: 1, path: 'https://canary-host.example/api/v2', per_page: 25, links: [] },
        })),
        () => ({
          write: (answer, { operation = '' }) =>
            operation.endsWith('.get') && operation !== 'usage.get'
              ? withBody(answer, (body) => (Array.isArray(body.data) ? { ...body, data: body.data[0] } : body))
              : answer,
        }),
      ],
    },
  },
  {
    name: 'a next page that only the header Link names',
    level: 'read',
    service: { contract: { paging: linked }, traits: [linksPages] },
    expected: { paging: 'unfound', 'page-size': ['confirmed', 'not-checked'] },
    works: false,
  },
  {
    name: 'rows below the name of the company',
    level: 'read',
    service: {
      traits: [changesLists((body) => ({ ...body, data: { 'Canary Holdings 5521': body.data } }), /^audiences/)],
    },
    expected: {
      'path:audiences.list': 'differs',
      ...expectAll(OPEN, 'path:audiences.get', 'path:lookalikes.get', 'shape:audience'),
      'page-size': ['confirmed', ...OPEN],
    },
    works: false,
  },
  {
    name: 'a get that returns another audience',
    level: 'read',
    service: {
      traits: [
        () => ({
          read: (call) =>
            call.operation === 'audiences.get' ? { ...call, params: { id: String(Number(call.params.id) - 1) } } : call,
        }),
      ],
    },
    expected: {
      ...expectAll('differs', 'path:audiences.get', 'path:lookalikes.get'),
      'shape:audience': ['confirmed', ...OPEN],
    },
    works: false,
  },
  {
    name: 'a create that returns a project which existed before, and creates nothing',
    level: 'write',
    service: { traits: [answersCreate((_, existing) => success([existing]), { acts: false })] },
    expected: {
      'path:projects.create': 'differs',
      ...expectAll('not-checked', ...OF_OWN),
      ...expectAll(['confirmed', ...OPEN], ...LATER),
    },
    works: false,
  },
  {
    name: 'a create that returns a project which existed before, beside the one it creates',
    level: 'write',
    service: { traits: [answersCreate((_, existing) => success([existing]))] },
    expected: {
      'path:projects.create': 'differs',
      ...expectAll(['confirmed', ...OPEN], 'idempotency:projects.create', 'body:projects.create', 'time-zone'),
      ...expectAll(['confirmed', ...OPEN], 'path:projects.delete', ...LATER),
    },
    works: false,
  },
  {
    name: 'a create that returns the id of a job outside of the project, which is that of another project',
    level: 'write',
    service: {
      contract: { operations: { 'projects.create': { data: 'data.project' } } },
      traits: [
        () => ({
          async answer(call, surroundings) {
            if (call.operation !== 'projects.create') return undefined;
            const [existing] = await rowsOf('projects.list', call, surroundings);
            const answer = await surroundings.perform(call);
            return answer.status === 200
              ? withBody(answer, (body) => ({ ...body, data: { id: existing?.id, ...Object(body.data) } }))
              : answer;
          },
        }),
      ],
    },
    expected: { 'data:projects.create': 'differs' },
  },
  {
    name: 'a create that returns its project twice',
    level: 'write',
    service: { traits: [answersCreate((created) => success([created, created]))] },
    expected: { 'path:projects.create': ['confirmed', 'differs'], 'shape:project': 'differs' },
    works: false,
  },
  {
    name: 'a create that returns no id',
    level: 'write',
    service: { traits: [answersCreate(() => success([]))] },
    expected: {
      'path:projects.create': 'differs',
      ...expectAll(['confirmed', ...OPEN], ...OF_OWN, ...LATER),
      'shape:project': ['confirmed', 'differs'],
    },
    works: false,
  },
  {
    name: 'a create with 202 and Location only',
    level: 'write',
    service: {
      traits: [answersCreate(({ id }) => ({ status: 202, headers: { location: `/api/v2/projects/${id}` }, body: '' }))],
    },
    expected: {
      'path:projects.create': 'differs',
      'idempotency:projects.create': ['confirmed', 'not-checked'],
      'shape:project': ['confirmed', 'differs'],
    },
    works: false,
  },
  {
    name: 'a firewall that responds with a page of status 200 after six refusals',
    level: 'read',
    service: {
      contract: following({ list: '/*/everything' }),
      traits: [blocks(6, page(200, 'Access denied'))],
    },
    expected: {
      ...expectAll('unfound', ...LISTS),
      ...expectAll(['confirmed', ...OPEN], ...GETS, ...SHAPES, 'paging', 'page-size', 'waits.via', 'statuses'),
    },
    stopped: 12,
  },
  {
    name: 'a firewall that redirects after six refusals',
    level: 'read',
    service: {
      contract: following({ list: '/*/everything' }),
      traits: [blocks(6, { ...page(302, 'Access denied'), headers: { location: '/blocked' } })],
    },
    expected: {
      ...expectAll('unfound', ...LISTS),
      ...expectAll(['confirmed', ...OPEN], ...GETS, ...SHAPES, 'paging', 'page-size', 'waits.via', 'statuses'),
    },
    stopped: 12,
  },
  {
    name: 'an audience that another program creates before a page of one row',
    level: 'read',
    service: { traits: [createsMeanwhile(2)] },
    leaves: 1,
  },
  {
    name: 'an audience that another program creates before the second page',
    level: 'read',
    service: { traits: [createsMeanwhile(3)] },
    leaves: 1,
  },
  {
    name: 'a 422 whose errors are objects',
    level: 'write',
    service: {
      traits: [
        () => ({
          write: (answer) =>
            answer.status === 422
              ? withBody(answer, (body) => ({
                  ...body,
                  errors: Object.fromEntries(
                    Object.entries(Object(body.errors)).map(([field, messages]) => [field, { code: 'x', messages }]),
                  ),
                }))
              : answer,
        }),
      ],
    },
    expected: {
      'errors.422': 'differs',
      ...expectAll(OPEN, ...TRIED_CREATES),
      ...expectAll('not-checked', ...BODIES.slice(1)),
    },
  },
  {
    name: 'a report without a build budget',
    level: 'read',
    service: { traits: [changesData('usage.get', ({ build_budget, ...report }) => report)] },
    expected: { 'usage.build_budget': 'differs' },
  },
  {
    name: 'a prefix, and redirects to paths with a slash at the end',
    level: 'read',
    service: {
      basePath: '/gateway/v9',
      contract: following({ list: '/*/index/', get: '/*/{id}/' }),
      traits: [redirects(/^(\/api\/v2\/(?!webhooks|usage)[a-z]+\/(?:index|\d+))$/, '/gateway/v9$1/', 308)],
    },
    expected: expectAll('differs', ...LISTS, ...GETS),
  },
  {
    name: 'a list of 20 MiB',
    level: 'read',
    service: {
      traits: [
        answers(({ path }) =>
          path === '/api/v2/schedules/index'
            ? { status: 200, headers: { 'content-type': 'application/json' }, body: LARGE_LIST }
            : undefined,
        ),
      ],
    },
    expected: {
      'path:schedules.list': 'unfound',
      ...expectAll('not-checked', 'path:schedules.get', 'shape:schedule'),
    },
    works: false,
  },
  {
    name: 'an OpenAPI document with the names of Laravel, which is not read',
    level: 'read',
    service: { contract: LIBRARY, traits: [publishesLaravelRoutes] },
    expected: {
      ...expectAll('unfound', 'path:audiences.list', 'path:audiences.get', 'path:lookalikes.get'),
      ...expectAll('not-checked', 'shape:audience', 'page-size'),
    },
    works: false,
  },
  {
    name: 'rows that have some of the fields',
    level: 'read',
    service: {
      traits: [
        () => ({
          resource: (resource, call) =>
            isList(call)
              ? Object.fromEntries(
                  [
                    'id',
                    'name',
                    'description',
                    'status',
                    'is_lookalike',
                    'total_eids',
                    'partner',
                    'updated_at',
                  ].flatMap((field) => (Object.hasOwn(resource, field) ? [[field, resource[field]]] : [])),
                )
              : resource,
        }),
      ],
    },
  },
  {
    name: 'audiences without a count, and with the name of their project',
    level: 'read',
    service: {
      traits: [
        () => ({
          resource: ({ results_count, ...resource }, { operation }) =>
            operation === 'audiences.get' ? { ...resource, project: 'CANARY' } : { ...resource, results_count },
        }),
      ],
    },
    expected: { 'shape:audience': 'differs' },
  },
  {
    name: 'lists with two arrays, of which none has a row',
    level: 'read',
    service: {
      isFilled: false,
      traits: [changesLists((body) => ({ ...body, data: { items: body.data, results: [] } }))],
    },
    expected: {
      ...expectAll('unfound', ...LISTS),
      ...expectAll(OPEN, ...GETS),
      ...expectAll('not-checked', ...SHAPES, 'paging', 'page-size', 'waits.via', 'statuses'),
    },
    works: false,
  },
  {
    name: 'a gateway that bans after the first refusal',
    level: 'read',
    service: { contract: following({ get: '/?/{id}' }), traits: [blocks(1, failure(403, 'Banned.'))] },
    expected: expectAll(['differs', 'not-checked'], ...GETS),
    stopped: 12,
  },
];
