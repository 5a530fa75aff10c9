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
    assumed: 'all five endpoints take the same body and no token',
    override: NONE,
    check: 'never, because this would issue tokens',
  },
  wrongCredentials: {
    about: 'Response to wrong credentials',
    assumed: '401, with only `message` or with the entire envelope',
    override: NONE,
    check: 'never, because `check` does not log in',
  },
  idempotencyKey: {
    about: 'Which create requests honour an idempotency key (the specification only says "seven creates")',
    assumed:
      'the requests that create audiences, lookalikes, estimates, activations, cohorts, projects and schedules. A key has 1 to 255 characters. The key belongs to the account, not to the token',
    override: '`operations: { "…": { retry } }`',
    check: '`--write`: creates a project twice with the same key. `check` infers nothing about other resources',
  },
  conflictMessage: {
    about: 'Cause of a 409 response (another request with the same key is in flight, or had a different body)',
    assumed:
      'the `message` names the cause. If it names neither cause or both causes, the client assumes that a request may be in flight',
    override: '`onConflict`',
    check: '`--write`: recognizes the message about another body',
  },
  errorEnvelope: {
    about: 'Body of 403, 404, 406, 409 and 429 responses',
    assumed: 'the envelope, as for other errors',
    override: NONE,
    check:
      'reads: a 422 response. `--write`: a 409 response to a key with another body. `check` does not provoke 403, 404, 406 and 429 responses',
  },
  jsonSize: {
    about: 'Maximum size of a JSON body',
    assumed:
      '8 MiB. The service returns 413 for a larger body. A `multipart/form-data` body has the size limits of uploads',
    override: NONE,
    check: 'never, because `check` sends no body of that size',
  },
  serverErrors: {
    about: 'Body of server errors',
    assumed: 'the envelope. A proxy may send any other body',
    override: NONE,
    check: 'never, because `check` provokes no server error',
  },
  insufficientScope: {
    about: 'Place of the code `insufficient_scope` in a response',
    assumed: 'in the header `WWW-Authenticate`, and in the body, where a field `error` is added to the envelope',
    override: NONE,
    check: 'never',
  },
  requestId: {
    about: 'Name of the request id header',
    assumed: '`x-request-id`',
    override: '`requestIdHeader`',
    check: 'reads: a header whose value differs in each response',
  },
  timeZone: {
    about: 'Time zone of timestamps (`Y-m-d H:i:s`)',
    assumed: 'UTC',
    override: '`serverTimeZone`',
    check: '`--write`: the timestamp of a project that `check` has just created',
  },
  createResponse: {
    about: 'Response to a create request',
    assumed: 'an array with the created resource, as in the response to a GET request for this resource',
    override: '`operations: { "…": { data } }`',
    check: '`--write`: the response to the request that creates a project',
  },
  emptyData: {
    about: '`data` in the response to a delete or cancel request',
    assumed: 'empty, or any value',
    override: NONE,
    check: 'never, because the client accepts any value',
  },
  audienceBody: {
    about: 'Body of a request that creates an audience or an estimate',
    assumed:
      '`name`, `project_id`, `dataset`, `cohort_id` and `filters`, all optional. An entry of `dataset` has the same three fields as in the audience object',
    override: '`operations: { "audiences.create": { body } }`',
    check:
      'never, because `check` creates only a project. The first real create shows it: a 422 response names the fields',
  },
  lookalikeBody: {
    about: 'Body of a request that creates a lookalike, except `config.target_size`',
    assumed: '`source_audience_id` and `config`, both required; an optional `name`',
    override: '`operations: { "lookalikes.create": { body } }`',
    check:
      'never, because `check` creates only a project. The first real create shows it: a 422 response names the fields',
  },
  activationBody: {
    about:
      'Body of a request that creates an activation, except `partner_id`, `partner_name` and `pricing_model`, which the service refuses',
    assumed:
      '`audience_id`, which is required, and the optional `description`, `identifier`, `project_id`, `credentials` and `filters`',
    override: '`operations: { "activations.create": { body } }`',
    check:
      'never, because `check` creates only a project. The first real create shows it: a 422 response names the fields',
  },
  cohortBody: {
    about: 'Body of a request that creates a cohort',
    assumed:
      '`name`, `upload_reference`, `source_audience_id` and `project_id`, all optional. A `multipart/form-data` body can also contain the file itself, as `file`',
    override: '`operations: { "cohorts.create": { body } }`',
    check: 'never, because this needs a file',
  },
  projectBody: {
    about: 'Fields of projects and schedules, and of the bodies that create them',
    assumed: 'a resource has an `id`, and a body has an optional `name`. Both can contain any other fields',
    override: '`operations: { "projects.create": { body } }`',
    check: '`--write`: creates a project with a name',
  },
  estimates: {
    about: 'Lifecycle of estimates',
    assumed: 'the lifecycle of audiences, but without webhook events',
    override: NONE,
    check: 'never, because estimates cannot be deleted',
  },
  lookalikeReads: {
    about: 'Requests that read, list and delete lookalikes',
    assumed: 'the requests for audiences, because a lookalike is an audience',
    override: '`operations: { "lookalikes.get": … }`',
    check: 'reads: looks for a lookalike in the list of audiences',
  },
  endedLookalike: {
    about: 'Response to a cancel request for a lookalike whose job has ended',
    assumed: '422',
    override: NONE,
    check: 'never, because `check` starts no lookalike',
  },
  runningStatuses: {
    about: 'Meaning of all statuses except 104, 105, 107, 4xx, and 1 to 3 of cohorts',
    assumed: 'the job is running',
    override: '`contract: { statuses }`',
    check:
      'reads: the statuses of rows that have not changed for seven days, whose jobs have probably ended. The result is at most `likely`',
  },
  paging: {
    about: 'Paging of lists',
    assumed:
      'the parameters `page`, which begins at 1, and `per_page`. A page is the last page if it is empty, or shorter than an earlier page',
    override: '`contract: { paging }`',
    check: 'reads: requests a page of one row, the next page, which must contain another row, and the largest page',
  },
  largePages: {
    about: '`per_page` above the maximum',
    assumed: 'the service reduces the value to the maximum',
    override: NONE,
    check: 'reads: the largest page',
  },
  references: {
    about: 'Requests for reference tables',
    assumed:
      'one path, with the group (`common`, `web`, `ctv` or `apps`) and the name of the table. A row can be any object',
    override: '`operations: { "reference.list": … }`',
    check: 'never, because no table is documented',
  },
  yearmonth: {
    about: '`yearmonth` of a usage report',
    assumed: '`YYYY-MM` in UTC. The default is the current month. If the service refuses a month, it returns 422',
    override: '`operations: { "usage.get": { query } }`',
    check: 'reads: the service accepts a past month, and refuses a future month',
  },
  buildBudget: {
    about: 'Fields of `build_budget`',
    assumed:
      '`hour` and `day`, each with `{ limit, used }`. The counts are live only in the report of the current month. `retry_after_seconds` is `null` or absent while neither budget is exhausted',
    override: '`operations: { "usage.get": { data } }`',
    check: 'reads: the fields of `build_budget`',
  },
  uploads: {
    about: 'Reservation of an upload',
    assumed:
      'the body is `{ kind, size }`, and `size` is optional. The response is `{ reference, url, expires_at }`. A create request refers to the upload with `upload_reference`. The largest POI submission has 52,428,800 bytes (50 MB in the specification). The largest cohort file has 1,073,741,824 bytes (1 GB)',
    override: '`operations: { "uploads.reserve": { data } }`',
    check: '`--write`: the fields of a reservation. `check` does not test the sizes',
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
      'JSON-RPC 2.0 without the envelope, with integers and strings as ids. A response is JSON, or an event stream that ends. The response to a message without an `id` is 202. The statuses 400, 413 and 415 have the same meaning as in the Streamable HTTP transport',
    override: NONE,
    check: 'never',
  },
  oauthBodies: {
    about: 'Parameters, bodies and responses of OAuth',
    assumed:
      'as in RFC 6749, 7009, 7591, 7636, 8414 and 9728, including errors other than `invalid_grant` and `invalid_scope`',
    override: NONE,
    check: 'never',
  },
  testEvent: {
    about: '`data` of the event `webhook.test`',
    assumed: '`message` and `endpoint_id`',
    override: NONE,
    check: "never, because only the service's console sends this event",
  },
} as const satisfies Record<string, Assumption>;

/** Assumptions of the client, by which it interprets responses and decides what to do. */
const CLIENT: readonly Assumption[] = [
  {
    about: 'Form of a single resource in `data`',
    assumed: 'an array with one element. The client also accepts the object itself',
    override: '`operations: { "…": { data } }`, with a path or a function',
    check: 'reads: the place of the resource',
  },
  {
    about: 'First page that has fewer rows than requested',
    assumed: 'it is the last page, unless its number of rows is a common page size, such as 25',
    override: '`contract: { paging }`',
    check: 'reads: the same pages as for paging',
  },
  {
    about: 'Cause of a 429 response to a create request that starts a job',
    assumed:
      'a rate limit, if the response has no envelope. Otherwise the client reads the usage report to find the cause. If it cannot read the report, a `Retry-After` above 60 s means that the build budget is used up',
    override: NONE,
    check: 'never, because this would use up the budget',
  },
  {
    about: 'Errors for a 401 response of the credential exchange, and for a 422 response to a cancel request',
    assumed: '`AuthenticationError` with the reason `credentials` for the 401, and `ValidationError` for the 422',
    override: NONE,
    check: 'never, because `check` does not log in, and starts no lookalike',
  },
  {
    about: 'Status 400 of a resource with `is_lookalike`',
    assumed: 'the lookalike was cancelled',
    override: NONE,
    check: 'never, because `check` starts no lookalike',
  },
  {
    about: 'Fields of request bodies that this page does not list',
    assumed: 'the client sends them unchanged, if you pass them as `extraBody`',
    override: NONE,
    check: 'never',
  },
  {
    about: 'Number of unique devices of an audience, for `explainActivation`',
    assumed: '`eligibility.metrics.unique_eids`',
    override: NONE,
    check: 'never, because this needs an activation',
  },
  {
    about: 'Retention of mapping keys, for `explainActivation`',
    assumed: '90 days after the latest `end_date`, in UTC, for audiences that are not lookalikes',
    override: NONE,
    check: 'never, because this needs an activation',
  },
  {
    about: 'Headers that the signature of a presigned URL covers',
    assumed: 'only `Content-Length`, so the client does not send the type of a Blob',
    override: '`headers` of an upload',
    check: 'never, because `check` sends no file',
  },
  {
    about: 'Error responses of storage to an upload',
    assumed: '401, 403, 404 and 410 mean that the upload slot has expired. 408, 429 and 5xx are transient errors',
    override: NONE,
    check: 'never, because `check` does not let an upload slot expire',
  },
  {
    about: 'Fields of list rows that waits read',
    assumed:
      'each row has a `status`. If rows have no `status`, the client polls each resource with its own request. If rows lack other fields, the client reads a resource when the status in its row changes',
    override: "`waits: { via: 'get' }`",
    check: 'reads: compares a row of the list with the same resource in a GET response',
  },
  {
    about: 'List that contains lookalikes, for waits',
    assumed:
      'the list of audiences, which contains each lookalike with its id. If `lookalikes.get` and `audiences.get` have different paths, the client polls each lookalike with its own request',
    override: '`operations: { "lookalikes.get": … }`',
    check: 'reads: the GET response for a lookalike that is in the list of audiences',
  },
  {
    about: 'Order of two states of a resource, for events',
    assumed: 'the state with the earlier `updated_at` is the older state',
    override: NONE,
    check: 'never, because `check` receives no events',
  },
  {
    about: 'Retries of messages to the MCP endpoint',
    assumed:
      '`initialize`, `ping`, `tools/list`, `resources/*`, `prompts/*` and notifications change nothing, so the client retries them after any transient error',
    override: '`operations: { "mcp.send": { retry } }`, for all messages',
    check: 'never, because `check` sends no such messages',
  },
  {
    about: 'Sign that the client must not retry a request',
    assumed: 'the response has the header `x-should-retry: false`, as in several other APIs',
    override: NONE,
    check: 'never, because `check` cannot provoke such a response',
  },
];

/** Name of an assumption about the contract. */
export type AssumptionName = keyof typeof CONTRACT;

/** The assumption about operations that the specification does not show. */
const ASSUMED_OPERATION =
  'Most assumed paths follow the documented `GET /api/v2/webhooks/index`: first the resource, then `index`, an id or an action. Requests that create, change or delete something are POST requests.';

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
  'webhooks.list': 'reads, at the beginning',
  'usage.get': 'reads, at the beginning',
  'projects.create': '`--write`: creates a project',
  'projects.delete': '`--write`: deletes the created project',
  'uploads.reserve': '`--write`: reserves an upload',
  'estimates.get': 'likely at best, because no list shows the ids of estimates',
  'reference.list': 'never, because no table is documented',
  'mcp.send': 'never',
};

/** Returns how `check` finds out whether method and path of an operation are right. */
function checkOf(name: OperationName): string {
  if (name.startsWith('auth.')) return 'never';
  const rule =
    operations[name].method === 'GET'
      ? 'reads'
      : 'never. The first real request shows it, by a 404 response or a success';
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
    `The specification of the service shows ${shown} of ${names.length} operations. This page lists what the package assumes about everything else, and how you`,
    'override each assumption without a new release.',
    '',
    'The column "check" says how [`aud check`](adapting-to-your-service.md) finds out whether an assumption holds at your service:',
    '',
    '- "reads": GET requests are enough.',
    '- "`--write`": `aud check` needs this option.',
    '- "likely at best": `aud check` can only infer that the assumption holds.',
    '- "never": `aud check` does not check the assumption.',
    '',
    'The text after the colon says what `aud check` examines or does.',
    '',
    '## Operations',
    '',
    ASSUMED_OPERATION,
    '',
    'To override the request of a row, use the client option `operations`, for example',
    "`operations: { 'audiences.get': 'GET /api/v2/audience/{id}' }`.",
    '',
    'The column "retry" says when the client repeats a request:',
    '',
    '- `always`: after any transient error.',
    '- `idempotency-key`: after any transient error, with the same idempotency key.',
    '- `never`: only if the request certainly had no effect.',
    '',
    row('operation', 'request', 'bucket', 'retry', 'starts a job', 'specification', 'check'),
    row('---', '---', '---', '---', '---', '---', '---'),
    ...table,
    '',
    ...section(
      'Requests and responses',
      'The [OpenAPI document](openapi.md) marks these assumptions with `x-assumed`.',
      Object.values(CONTRACT),
    ),
    ...section('How the client interprets responses', 'The OpenAPI document does not show these assumptions.', CLIENT),
  ].join('\n');
}
