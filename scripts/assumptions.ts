import { isOperationName, type OperationName, operations } from '../src/spec/operations.ts';

/** Something that the specification does not show, what is assumed, how to override it, and how `check` finds out. */
interface Assumption {
  readonly about: string;
  readonly assumed: string;
  readonly override: string;
  readonly check: string;
}

const NONE = '—';

/** Assumptions about requests and responses. The OpenAPI document marks each where it applies, by `x-assumed`. */
const CONTRACT = {
  credentialExchange: {
    about: 'Credential exchange: the specification says "four" endpoints and lists five',
    assumed: 'all five take the same body and no token',
    override: NONE,
    check: 'never: it would issue tokens',
  },
  wrongCredentials: {
    about: 'Wrong credentials',
    assumed: '401, with `message` only or in the envelope',
    override: NONE,
    check: 'never: it does not log in',
  },
  idempotencyKey: {
    about: 'Creates that honour an idempotency key ("seven creates")',
    assumed:
      'audiences, lookalikes, estimates, activations, cohorts, projects, schedules; a key has 1 to 255 characters, and belongs to the account, not to the token',
    override: '`operations: { "…": { retry } }`',
    check: '`--write`: a project under the same key twice; `--build`: an audience. Others are not inferred',
  },
  conflictMessage: {
    about: 'Which of its two causes a 409 has',
    assumed:
      'its `message` says that a request is in flight, or that the body is another one; if it says neither or both, a request may be in flight',
    override: '`onConflict`',
    check: '`--write`: the message about another body is recognized',
  },
  errorEnvelope: {
    about: 'Body of 403, 404, 406, 409 and 429',
    assumed: 'the envelope, like other errors',
    override: NONE,
    check: 'reads: 422; `--write`: 409, for a key with another body; others never',
  },
  jsonSize: {
    about: 'Maximum size of a JSON body',
    assumed: '8 MiB; a larger body returns 413; `multipart/form-data` has the limits of uploads',
    override: NONE,
    check: 'never: it sends no body of that size',
  },
  serverErrors: {
    about: 'Body of server errors',
    assumed: 'the envelope; proxies may send any other body',
    override: NONE,
    check: 'never: it provokes no server error',
  },
  insufficientScope: {
    about: 'Where the code `insufficient_scope` is',
    assumed: '`error` beside the fields of the envelope, and in `WWW-Authenticate`',
    override: NONE,
    check: 'never',
  },
  requestId: {
    about: 'Request id header',
    assumed: '`x-request-id`',
    override: '`requestIdHeader`',
    check: 'reads: the header with another value in each response',
  },
  timeZone: {
    about: 'Time zone of `Y-m-d H:i:s`',
    assumed: 'UTC',
    override: '`serverTimeZone`',
    check: '`--write`: the time of a project just created',
  },
  createResponse: {
    about: 'Response to a create request',
    assumed: 'like the GET: an array of the one resource',
    override: '`operations: { "…": { data } }`',
    check: '`--write`: the response for a project',
  },
  emptyData: {
    about: '`data` of a delete or cancel',
    assumed: 'empty, or any value',
    override: NONE,
    check: 'never: any value is accepted',
  },
  audienceBody: {
    about: 'Body that creates an audience or estimate',
    assumed:
      '`name`, `project_id`, `dataset`, `cohort_id`, `filters`, all optional; an entry of `dataset` has all three fields of the audience object',
    override: '`operations: { "audiences.create": { body } }`',
    check: '`--write`: fields that a 422 names; never more than `likely`',
  },
  lookalikeBody: {
    about: 'Body that creates a lookalike, except `config.target_size`',
    assumed: '`name`, `source_audience_id`; the latter and `config` are required',
    override: '`operations: { "lookalikes.create": { body } }`',
    check: '`--write`: fields that a 422 names; never more than `likely`',
  },
  activationBody: {
    about: 'Body that creates an activation, except the refused fields',
    assumed:
      '`audience_id`, `description`, `identifier`, `project_id`, `credentials`, `filters`; `audience_id` is required',
    override: '`operations: { "activations.create": { body } }`',
    check: '`--write`: fields that a 422 names; never more than `likely`',
  },
  cohortBody: {
    about: 'Body that creates a cohort',
    assumed:
      '`name`, `upload_reference`, `source_audience_id`, `project_id`, all optional; as `multipart/form-data`, also the file itself as `file`',
    override: '`operations: { "cohorts.create": { body } }`',
    check: 'never: it needs a file',
  },
  projectBody: {
    about: 'Fields of projects and schedules, and of the bodies that create them',
    assumed: '`id` of the resource; an optional `name` in the body, and any other fields',
    override: '`operations: { "projects.create": { body } }`',
    check: '`--write`: a project with a name',
  },
  estimates: {
    about: 'Estimates',
    assumed: 'the lifecycle of audiences; no webhook events',
    override: NONE,
    check: 'never: they cannot be deleted',
  },
  lookalikeReads: {
    about: 'Created lookalikes',
    assumed: 'are audiences, and are read, listed and deleted like them',
    override: '`operations: { "lookalikes.get": … }`',
    check: 'reads: a lookalike of the list of audiences',
  },
  endedLookalike: {
    about: 'Cancelling a lookalike whose job has ended',
    assumed: 'returns 422',
    override: NONE,
    check: 'never: it starts no lookalike',
  },
  runningStatuses: {
    about: 'Statuses other than 104, 105, 107 and 4xx, and 1 to 3 of cohorts',
    assumed: 'the job is running',
    override: '`contract: { statuses }`',
    check: 'reads: statuses of rows that have not changed for seven days; never more than `likely`',
  },
  paging: {
    about: 'Paging',
    assumed: '`page` from 1, and `per_page`; a page that is empty, or shorter than an earlier one, is the last',
    override: '`contract: { paging }`',
    check: 'reads: a page of one row, and another row on the next one; then the largest page',
  },
  largePages: {
    about: '`per_page` above the cap',
    assumed: 'reduced to the cap',
    override: NONE,
    check: 'reads: the largest page',
  },
  references: {
    about: 'Reference reads',
    assumed:
      'one path, with the group `common`, `web`, `ctv` or `apps` and the name of the table; a row can be any object',
    override: '`operations: { "reference.list": … }`',
    check: 'likely only: no table is documented',
  },
  yearmonth: {
    about: 'Usage `yearmonth`',
    assumed: '`YYYY-MM`, UTC; the current month without it; 422 for a month that is refused',
    override: '`operations: { "usage.get": { query } }`',
    check: 'reads: a past month succeeds, a future one is refused',
  },
  buildBudget: {
    about: 'Fields of `build_budget`',
    assumed:
      '`hour` and `day`, each `{ limit, used }`, live counts in the current month only; `retry_after_seconds` is `null` or absent while no window is exhausted',
    override: '`operations: { "usage.get": { data } }`',
    check: 'reads: its fields; `--build`: the count rises',
  },
  uploads: {
    about: 'Upload reservations',
    assumed:
      'body `{ kind, size }`, of which `size` is optional; response `{ reference, url, expires_at }`, claimed as `upload_reference`; sizes are binary and inclusive (52,428,800 and 1,073,741,824 bytes)',
    override: '`operations: { "uploads.reserve": { data } }`',
    check: '`--write`: fields of a reservation; sizes never',
  },
  resultUris: {
    about: 'Result URIs of activations',
    assumed: 'plain http(s) links that need no token',
    override: NONE,
    check: 'never',
  },
  mcpMessages: {
    about: 'Messages to the MCP endpoint',
    assumed:
      'JSON-RPC 2.0 without the envelope, with integers and strings as ids; responses are JSON or an event stream that ends, 202 to a message without an `id`; 400, 413 and 415 as in the Streamable HTTP transport',
    override: NONE,
    check: 'never',
  },
  oauthBodies: {
    about: 'Parameters, bodies and responses of OAuth',
    assumed:
      'as in RFC 6749, 7009, 7591, 7636, 8414 and 9728, errors other than `invalid_grant` and `invalid_scope` included',
    override: NONE,
    check: 'never',
  },
  testEvent: {
    about: '`data` of `webhook.test`',
    assumed: '`message` and `endpoint_id`',
    override: NONE,
    check: 'never: the console sends it',
  },
} as const satisfies Record<string, Assumption>;

/** Assumptions of the client, by which it interprets responses and decides what to do. */
const CLIENT: readonly Assumption[] = [
  {
    about: 'Single resources in `data`',
    assumed: 'a one-element array; the object itself is accepted, too',
    override: '`operations: { "…": { data } }`, a path or a function',
    check: 'reads: where the resource is',
  },
  {
    about: 'A first page with fewer rows than requested',
    assumed: 'the last, unless its length is a common page size, such as 25',
    override: '`contract: { paging }`',
    check: 'reads: together with paging',
  },
  {
    about: 'A 429 to a create request that starts a job',
    assumed:
      'a rate limit if it has no envelope. Otherwise the client reads the usage. If that fails, a `Retry-After` above 60 s means the build budget',
    override: NONE,
    check: 'never: it would use up the budget',
  },
  {
    about: 'A 401 of the credential exchange, and a 422 to a cancel',
    assumed: '`AuthenticationError` with reason `credentials`; `ValidationError`',
    override: NONE,
    check: 'never: it does not log in, and starts no lookalike',
  },
  {
    about: 'Status 400 on a resource with `is_lookalike`',
    assumed: 'cancelled',
    override: NONE,
    check: 'never: it starts no lookalike',
  },
  {
    about: 'Fields of a body that this page does not list',
    assumed: 'sent as they are, with `extraBody`',
    override: NONE,
    check: 'never',
  },
  {
    about: 'Unique devices of an audience, for `explainActivation`',
    assumed: '`eligibility.metrics.unique_eids`',
    override: NONE,
    check: 'never: needs an activation',
  },
  {
    about: 'Retention of mapping keys, for `explainActivation`',
    assumed: '90 days of UTC after the latest `end_date`, for audiences other than lookalikes',
    override: NONE,
    check: 'never: needs an activation',
  },
  {
    about: 'Headers that a presigned URL is signed for',
    assumed: 'none besides `Content-Length`: the type of a Blob is not sent',
    override: '`headers` of an upload',
    check: '`--write`: a PUT of 4 bytes without further headers',
  },
  {
    about: 'Error responses of storage to an upload',
    assumed: '401, 403, 404 and 410 mean that the slot has expired; 408, 429 and 5xx are transient',
    override: NONE,
    check: 'never: it lets no slot expire',
  },
  {
    about: 'Rows of resource lists, for waits',
    assumed: 'have a `status`; if they do not, or lack fields, resources are read one by one',
    override: "`waits: { via: 'get' }`",
    check: 'reads: a row compared with its GET',
  },
  {
    about: 'Lookalikes, for waits',
    assumed: 'rows of the list of audiences with the same ids, as long as both are read from one path',
    override: '`operations: { "lookalikes.get": … }`',
    check: 'reads: the GET of a lookalike in the list of audiences',
  },
  {
    about: 'The older of two states of a resource, for events',
    assumed: 'the one with the earlier `updated_at`',
    override: NONE,
    check: 'never: it receives no events',
  },
  {
    about: 'Retries of messages to the MCP endpoint',
    assumed:
      '`initialize`, `ping`, `tools/list`, `resources/*`, `prompts/*` and notifications change nothing and are retried `always`',
    override: '`operations: { "mcp.send": { retry } }`, for all messages',
    check: 'never: it sends no such messages',
  },
  {
    about: 'A response that must not be retried',
    assumed: 'has the header `x-should-retry: false`, as in several other APIs',
    override: NONE,
    check: 'never: it cannot provoke such a response',
  },
];

/** Name of an assumption about the contract. */
export type AssumptionName = keyof typeof CONTRACT;

/** The assumption about operations that the specification does not show. */
const ASSUMED_OPERATION =
  'Method and path: named after `GET /api/v2/webhooks/index`; creates, changes and deletes are POST requests.';

/** Returns what `x-assumed` says of an assumption, or of several. */
export const assumed = (...names: readonly AssumptionName[]): { readonly 'x-assumed': string } => ({
  'x-assumed': names.map((name) => `${CONTRACT[name].about}: ${CONTRACT[name].assumed}.`).join(' '),
});

/** Returns what `x-assumed` says of an operation that the specification does not show, and what else is assumed of it. */
export const assumedOperation = (...names: readonly AssumptionName[]): { readonly 'x-assumed': string } => ({
  'x-assumed': [ASSUMED_OPERATION, ...names.map((name) => assumed(name)['x-assumed'])].join(' '),
});

/** Returns what `x-assumed` says of each assumption about the contract. */
export const assumptionTexts = (): readonly string[] => {
  const names = Object.keys(CONTRACT) as AssumptionName[]; // its own keys
  return [ASSUMED_OPERATION, ...names.map((name) => assumed(name)['x-assumed'])];
};

/** How `check` finds out about operations that it does not judge by the rule of {@link checkOf}. */
const CHECKED: Readonly<Partial<Record<OperationName, string>>> = {
  'webhooks.list': 'reads: first of all',
  'usage.get': 'reads: first of all',
  'projects.create': '`--write`: a project',
  'projects.delete': '`--write`: that project',
  'audiences.create': '`--write`: a body that must be refused',
  'audiences.delete': '`--build`: the audience of the check',
  'lookalikes.create': '`--write`: a body that must be refused',
  'activations.create': '`--write`: a body that must be refused',
  'uploads.reserve': '`--write`: 4 bytes, never claimed',
  'estimates.get': 'likely only: no id is listed',
  'reference.list': 'likely only: no table is documented',
  'mcp.send': 'never',
};

/** Returns how `check` finds out whether method and path of an operation are right. */
function checkOf(name: OperationName): string {
  if (name.startsWith('auth.')) return 'never';
  const rule = operations[name].method === 'GET' ? 'reads' : 'likely only: by analogy';
  return CHECKED[name] ?? rule;
}

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const section = (title: string, text: string, assumptions: readonly Assumption[]): readonly string[] => [
  `## ${title}`,
  '',
  text,
  '',
  row('not shown', 'assumed', 'override', 'check'),
  row('---', '---', '---', '---'),
  ...assumptions.map(({ about, assumed: text, override, check }) => row(about, text, override, check)),
  '',
];

/** Returns the content of `docs/assumptions.md`. */
export function assumptionsPage(): string {
  const names = Object.keys(operations).filter(isOperationName);
  const shown = names.filter((name) => operations[name].documented).length;
  const table = names.map((name) => {
    const { method, path, bucket, retry, startsJob, documented } = operations[name];
    return row(
      `\`${name}\``,
      `\`${method} ${path}\``,
      bucket,
      retry,
      startsJob ? 'yes' : '',
      documented ? 'shown' : '**assumed**',
      checkOf(name),
    );
  });
  return [
    '# Assumptions about the service',
    '',
    '<!-- Written by `npm run docs -- assumptions` from `src/spec/operations.ts` and `scripts/assumptions.ts`; do not edit. -->',
    '',
    `The specification of the service shows ${shown} of ${names.length} operations. This page lists the assumptions of the package about everything else, how to`,
    'override each of them without a new release, and how `aud check` finds out whether it holds at your service',
    '([adapting-to-your-service.md](adapting-to-your-service.md)).',
    '',
    '## Operations',
    '',
    `${ASSUMED_OPERATION} Override any row with the client option \`operations\`, for example`,
    "`operations: { 'audiences.get': 'GET /api/v2/audience/{id}' }`. *Retry*: requests are repeated after any transient error with",
    '`always`, and with `idempotency-key` under the same key; with `never`, only if the request certainly had no effect.',
    '',
    row('operation', 'request', 'bucket', 'retry', 'starts a job', 'specification', 'check'),
    row('---', '---', '---', '---', '---', '---', '---'),
    ...table,
    '',
    ...section(
      'Requests and responses',
      'The [OpenAPI document](openapi.md) marks each of them with `x-assumed`.',
      Object.values(CONTRACT),
    ),
    ...section(
      'How the client interprets responses',
      'Assumptions that are not visible in the OpenAPI document.',
      CLIENT,
    ),
  ].join('\n');
}
