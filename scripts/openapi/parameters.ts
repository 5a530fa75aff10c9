import { APPS_PAGE_SIZE, EARLIEST_USAGE_MONTH, REFERENCE_PAGE_CAP, RESOURCE_PAGE_CAP } from '../../src/spec/limits.ts';
import type { Operation, OperationName } from '../../src/spec/operations.ts';
import { assumed } from '../assumptions.ts';

type Json = Readonly<Record<string, unknown>>;

/** Default `per_page` of resource lists (specification, "Pagination"); the client always sends it. */
const LIST_PAGE_SIZE = 25;

const REFERENCE_PAGES = { size: REFERENCE_PAGE_CAP, cap: REFERENCE_PAGE_CAP };

/** The number of a page, as all lists have it. */
export const PAGE: Json = {
  name: 'page',
  in: 'query',
  description: 'Number of the page.',
  schema: { type: 'integer', minimum: 1, default: 1 },
  ...assumed('paging'),
};

/** Returns `x-pagination` of a list: the parameters, default and maximum `per_page`, and those of single groups. */
export const paginationOf = (name: OperationName): Json => ({
  page: 'page',
  per_page: 'per_page',
  ...(name === 'reference.list'
    ? { ...REFERENCE_PAGES, datasets: { apps: { size: APPS_PAGE_SIZE, cap: null } } }
    : { size: LIST_PAGE_SIZE, cap: RESOURCE_PAGE_CAP }),
});

/** Returns the parameters of the path, and those of the query that the client has sent. */
export function parametersOf(name: OperationName, row: Operation, query: readonly string[]): readonly Json[] {
  const inPath = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => ({
    name: param,
    in: 'path',
    required: true,
    ...(PATH_PARAMETERS[param] ?? {}),
  }));
  return [
    ...inPath,
    ...(row.retry === 'idempotency-key' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...query.map((param) => {
      const parameter = QUERY_PARAMETERS[param];
      if (!parameter) throw new Error(`${name} sends ${param}: describe it in QUERY_PARAMETERS.`);
      return parameter(name);
    }),
  ];
}

const PATH_PARAMETERS: Readonly<Record<string, Json>> = {
  id: { description: 'Id of the resource.', schema: { type: 'integer', minimum: 1 } },
  dataset: {
    description: 'Group of tables.',
    schema: { type: 'string', enum: ['common', 'web', 'ctv', 'apps'] },
    ...assumed('references'),
  },
  name: {
    description: 'Name of the table.',
    schema: { type: 'string', pattern: '^[\\w-]+$' },
    example: 'domains',
    ...assumed('references'),
  },
};

const QUERY_PARAMETERS: Readonly<Record<string, (name: OperationName) => Json>> = {
  page: () => ({ $ref: '#/components/parameters/Page' }),
  per_page: (name) => ({
    name: 'per_page',
    in: 'query',
    ...(name === 'reference.list'
      ? {
          description: `Rows per page, at most and by default ${REFERENCE_PAGE_CAP}. Tables of \`apps\` have ${APPS_PAGE_SIZE} by default, and no maximum.`,
          schema: { type: 'integer', minimum: 1 },
        }
      : {
          description: `Rows per page, at most ${RESOURCE_PAGE_CAP}.`,
          schema: { type: 'integer', minimum: 1, default: LIST_PAGE_SIZE },
        }),
    ...assumed('paging', 'largePages'),
  }),
  yearmonth: () => ({
    name: 'yearmonth',
    in: 'query',
    description: `Month, from ${EARLIEST_USAGE_MONTH} to the current one; an earlier or future one is refused.`,
    schema: { type: 'string', pattern: '^\\d{4}-(0[1-9]|1[0-2])$' },
    example: '2026-11',
    ...assumed('yearmonth'),
  }),
};
