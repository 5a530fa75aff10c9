import { ACTIVATION_MINIMUM, APPS_PAGE_SIZE, REFERENCE_PAGE_CAP, RESOURCE_PAGE_CAP } from '../../src/spec/limits.ts';
import type { OperationName } from '../../src/spec/operations.ts';
import type { JsonSchema } from './json-schema.ts';

/** Description of an operation, beyond its row of the operation table. */
export interface OperationDetails {
  readonly summary: string;
  readonly description: string;
  /** Name of the schema of the body. */
  readonly body?: string;
  /** Schema of `data` in the envelope of a success; none for the MCP endpoint. */
  readonly data?: JsonSchema;
  /** Statuses of errors besides those of every operation. */
  readonly errors: readonly number[];
  /** Default and maximum `per_page` of a list. */
  readonly pages?: { readonly size: number; readonly cap: number };
}

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The array of one element in which a GET returns a resource (specification, "Webhook delivery envelope"). */
const one = (name: string): JsonSchema => ({ type: 'array', items: ref(name), minItems: 1, maxItems: 1 });
const many = (name: string): JsonSchema => ({ type: 'array', items: ref(name) });

/** Default `per_page` of resource lists (specification, "Pagination"); the client always sends it. */
const LIST_PAGE_SIZE = 25;

const LIST_PAGES = { size: LIST_PAGE_SIZE, cap: RESOURCE_PAGE_CAP };

const create = (label: string, body: string, schema: string, description: string): OperationDetails => ({
  summary: `Create ${label}`,
  description,
  body,
  data: { ...one(schema), 'x-assumed': 'The same as the response of the GET.' },
  errors: [409, 422],
});

const get = (label: string, schema: string): OperationDetails => ({
  summary: `Get ${label}`,
  description: `Returns ${label} as an array of one element.`,
  data: one(schema),
  errors: [404],
});

const list = (label: string, schema: string): OperationDetails => ({
  summary: `List ${label}`,
  description: `Returns one page of the ${label} of the account. A page shorter than \`per_page\` is the last.`,
  data: many(schema),
  errors: [],
  pages: LIST_PAGES,
});

const remove = (label: string): OperationDetails => ({
  summary: `Delete ${label}`,
  description: `Deletes ${label}. Do not repeat it unless it certainly had no effect.`,
  data: { description: 'Empty, or any value.' },
  errors: [404],
});

const exchange = (summary: string, description: string, schema: string): OperationDetails => ({
  summary,
  description,
  body: 'Credentials',
  data: ref(schema),
  errors: [422],
});

const JOB = 'Starts a worker job, which the build budget of the organization counts.';

/** Summaries, bodies and responses of all operations. */
export const OPERATION_DETAILS: Readonly<Record<OperationName, OperationDetails>> = {
  'auth.login': exchange(
    'Log in',
    'Issues a login token and deletes the previous login token of the account.',
    'IssuedToken',
  ),
  'auth.createApiToken': exchange(
    'Create an API token',
    'Issues a token named `api` with no scopes, for one year. Ten can be active.',
    'ExpiringToken',
  ),
  'auth.revokeApiTokens': exchange(
    'Revoke all API tokens',
    'Revokes every active API token of the account.',
    'Revocation',
  ),
  'auth.createMcpToken': exchange(
    'Create an MCP token',
    'Issues a token with scope `mcp`, for one year. Ten can be active.',
    'ExpiringToken',
  ),
  'auth.revokeMcpTokens': exchange(
    'Revoke all MCP tokens',
    'Revokes every active MCP token of the account.',
    'Revocation',
  ),
  'audiences.create': create(
    'an audience',
    'AudienceCreate',
    'Audience',
    `Builds an audience from datasets. ${JOB} It ends at 104, 107 or a 4xx status.`,
  ),
  'audiences.get': get('an audience or lookalike', 'Audience'),
  'audiences.list': list('audiences and lookalikes', 'Audience'),
  'audiences.delete': remove('an audience'),
  'lookalikes.create': create(
    'a lookalike',
    'LookalikeCreate',
    'Audience',
    `Grows a lookalike from a completed audience of at least 1,000 devices. ${JOB} The result is an audience.`,
  ),
  'lookalikes.cancel': {
    summary: 'Cancel a lookalike',
    description: 'Stops the run, which ends at 400. A lookalike that is being published completes at 104 instead.',
    data: { description: 'Empty, or any value.' },
    errors: [404, 422],
  },
  'lookalikes.get': get('a lookalike', 'Audience'),
  'estimates.create': create(
    'an estimate',
    'AudienceCreate',
    'Estimate',
    `Estimates the size of an audience without building it. ${JOB}`,
  ),
  'estimates.get': get('an estimate', 'Estimate'),
  'activations.create': create(
    'an activation',
    'ActivationCreate',
    'Activation',
    `Delivers an audience of at least ${ACTIVATION_MINIMUM} unique devices to a partner. ${JOB} It ends at 104, 107 or a 4xx status.`,
  ),
  'activations.get': get('an activation', 'Activation'),
  'activations.list': list('activations', 'Activation'),
  'activations.delete': remove('an activation'),
  'cohorts.create': create(
    'a cohort',
    'CohortCreate',
    'Cohort',
    `Imports a cohort from an uploaded file, by its reference. ${JOB} It ends at 4 or 5.`,
  ),
  'cohorts.get': get('a cohort', 'Cohort'),
  'cohorts.list': list('cohorts', 'Cohort'),
  'cohorts.delete': remove('a cohort'),
  'projects.create': create('a project', 'OpenCreate', 'Project', 'Creates a project, which organizes work.'),
  'projects.get': get('a project', 'Project'),
  'projects.list': list('projects', 'Project'),
  'projects.delete': remove('a project'),
  'schedules.create': create(
    'a schedule',
    'OpenCreate',
    'Schedule',
    'Creates a schedule, which replays work. Its replays do not count in the build budget.',
  ),
  'schedules.get': get('a schedule', 'Schedule'),
  'schedules.list': list('schedules', 'Schedule'),
  'schedules.delete': remove('a schedule'),
  'uploads.reserve': {
    summary: 'Reserve an upload',
    description:
      'Returns a presigned URL. Send the file to it with PUT, and claim its reference by a create within 15 minutes.',
    body: 'UploadRequest',
    data: ref('UploadReservation'),
    errors: [422],
  },
  'webhooks.list': {
    summary: 'List webhook endpoints',
    description: 'Returns the webhook endpoints of the company, newest first. They are managed in the console only.',
    data: many('WebhookEndpoint'),
    errors: [],
  },
  'usage.get': {
    summary: 'Get a usage report',
    description: 'Returns the usage of a month, with limits and live counts of the build budget.',
    data: ref('Usage'),
    errors: [422],
  },
  'reference.list': {
    summary: 'List a reference table',
    description: `Returns one page of a reference table. The tables of \`apps\` have pages of ${APPS_PAGE_SIZE} rows and no maximum.`,
    data: { type: 'array', items: { type: 'object', additionalProperties: true } },
    errors: [404],
    pages: { size: REFERENCE_PAGE_CAP, cap: REFERENCE_PAGE_CAP },
  },
  'mcp.send': {
    summary: 'Send a message to the MCP server',
    description:
      'The endpoint of the Model Context Protocol: one message of JSON-RPC 2.0, without the envelope. It needs a token of scope `mcp`.',
    body: 'JsonRpcMessage',
    errors: [403],
  },
};
