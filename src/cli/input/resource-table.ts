import type { JobKind, ReferenceDataset } from '../../index.ts';
import { isOperationName, type NamespaceWith, operations } from '../../spec/operations.ts';

/** Names of the resources, equal to the names of the client's namespaces. */
export type ResourceName = NamespaceWith<'create'> & NamespaceWith<'get'>;

/** Names of the resources with `list` and `delete`. */
export type ListedName = ResourceName & NamespaceWith<'list'> & NamespaceWith<'delete'>;

/** A flag of `create` that sets a field of the body. */
export interface BodyFlag {
  /** Flag and value in the form of the help: `--target-size <n>`. */
  readonly flag: string;
  /** Path of the field in the body. */
  readonly field: string;
  readonly description: string;
  readonly type: 'text' | 'integer' | 'boolean' | 'json' | 'dataset';
}

/** A resource of the service, with its commands and columns. */
interface ResourceRow {
  readonly singular: string;
  /** Kind of the jobs, if a create request starts a job. */
  readonly kind?: JobKind;
  /** Fields that `list` prints by default. */
  readonly columns: readonly string[];
  /** Flags of `create`. */
  readonly body: readonly BodyFlag[];
}

const name: BodyFlag = { flag: '--name <text>', field: 'name', description: 'name', type: 'text' };
const project: BodyFlag = {
  flag: '--project-id <id>',
  field: 'project_id',
  description: 'id of the project',
  type: 'integer',
};
const cohort: BodyFlag = {
  flag: '--cohort-id <id>',
  field: 'cohort_id',
  description: 'id of a completed cohort to build from, instead of datasets',
  type: 'integer',
};
const dataset: BodyFlag = {
  flag: '--dataset <type:start:end>',
  field: 'dataset',
  description: 'data to build from, such as WebDomain:2026-10-20:2026-11-20; repeatable',
  type: 'dataset',
};
const filters: BodyFlag = { flag: '--filters <json>', field: 'filters', description: 'filters, as JSON', type: 'json' };

const DEFAULTS = { columns: ['id', 'name'], body: [name] };

/** Values of resources that differ from `DEFAULTS`. */
const ROWS: Readonly<Partial<Record<ResourceName, Partial<ResourceRow>>>> = {
  audiences: {
    kind: 'audience',
    columns: ['id', 'name', 'status.name', 'results_count', 'created_at'],
    body: [name, project, dataset, cohort, filters],
  },
  lookalikes: {
    kind: 'lookalike',
    body: [
      name,
      {
        flag: '--source-audience-id <id>',
        field: 'source_audience_id',
        description: 'id of the completed audience to extend',
        type: 'integer',
      },
      {
        flag: '--target-size <n>',
        field: 'config.target_size',
        description: 'number of devices, 1 to 4,000,000',
        type: 'integer',
      },
    ],
  },
  estimates: { kind: 'estimate', body: [name, project, dataset, filters] },
  activations: {
    kind: 'activation',
    columns: ['id', 'description', 'audience.name', 'status.name', 'created_at'],
    body: [
      {
        flag: '--audience-id <id>',
        field: 'audience_id',
        description: 'id of the audience to deliver',
        type: 'integer',
      },
      {
        flag: '--identifier <identifier>',
        field: 'identifier',
        description: 'identifier to deliver, such as MAID',
        type: 'text',
      },
      { flag: '--description <text>', field: 'description', description: 'description', type: 'text' },
      project,
      {
        flag: '--freq-limit',
        field: 'filters.freq_limit',
        description: 'limit how often a device is reached',
        type: 'boolean',
      },
      { flag: '--freq-min <n>', field: 'filters.freq_min', description: 'minimum frequency', type: 'integer' },
      { flag: '--freq-max <n>', field: 'filters.freq_max', description: 'maximum frequency', type: 'integer' },
    ],
  },
  cohorts: {
    kind: 'cohort',
    columns: ['id', 'name', 'status.name', 'total_eids', 'created_at'],
    body: [
      name,
      project,
      {
        flag: '--upload-reference <reference>',
        field: 'upload_reference',
        description: 'reference of a file uploaded within the last 15 minutes',
        type: 'text',
      },
    ],
  },
};

const isResource = (namespace: string): namespace is ResourceName =>
  isOperationName(`${namespace}.create`) && isOperationName(`${namespace}.get`);

/** The resources, in the order of the operation table. */
export const RESOURCE_NAMES: readonly ResourceName[] = [
  ...new Set(Object.keys(operations).map((operation) => operation.split('.')[0] ?? '')),
].filter(isResource);

/** Returns the subcommands of a resource that have the name of an operation. */
export const verbsOf = (resource: ResourceName): readonly string[] =>
  ['create', 'get', 'list', 'delete', 'cancel'].filter((verb) => isOperationName(`${resource}.${verb}`));

/** Returns whether a resource has `list` and `delete`. */
export const isListed = (resource: ResourceName): resource is ListedName =>
  isOperationName(`${resource}.list`) && isOperationName(`${resource}.delete`);

/** Returns a resource with its commands and columns. */
export const rowOf = (resource: ResourceName): ResourceRow => ({
  singular: resource.replace(/s$/, ''),
  ...DEFAULTS,
  ...ROWS[resource],
});

/** Kinds of job that `wait` accepts. */
export const JOB_KINDS = [
  'audience',
  'lookalike',
  'estimate',
  'activation',
  'cohort',
] as const satisfies readonly JobKind[];

export const DATASETS = ['common', 'web', 'ctv', 'apps'] as const satisfies readonly ReferenceDataset[];
