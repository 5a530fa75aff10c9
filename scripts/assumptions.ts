import { isOperationName, operations } from '../src/spec/operations.ts';

/** Something that the specification does not show, what is assumed, and how to override it. */
interface Assumption {
  readonly about: string;
  readonly assumed: string;
  readonly override: string;
}

/** Assumptions that are not rows of the operation table. */
const ASSUMPTIONS: readonly Assumption[] = [
  {
    about: 'Creates that honour an idempotency key ("seven creates")',
    assumed:
      'audiences, lookalikes, estimates, activations, cohorts, projects, schedules; keys belong to the account, not the token',
    override: '`operations: { "…": { retry } }`',
  },
  {
    about: 'Credential exchange: the specification says "four" endpoints and lists five',
    assumed: 'all five take the same body and no token',
    override: '—',
  },
  {
    about: 'Single resources in `data`',
    assumed: 'a one-element array or the object itself; creates return the same as the GET',
    override: '`operations: { "…": { data } }`, a path or a function',
  },
  {
    about: 'Body of an audience create',
    assumed: '`name`, `project_id`, `dataset`, `cohort_id`, `filters`; others by `extraBody`',
    override: '`operations: { "audiences.create": { body } }`',
  },
  {
    about: 'Paging',
    assumed:
      '`page` from 1 and `per_page`; the last page is empty, shorter than an earlier one, or a first one whose length is not a common page size',
    override: '`contract: { paging }`',
  },
  {
    about: 'Usage `yearmonth`',
    assumed: '`YYYY-MM`, UTC; the current month without it; live counts of `build_budget` in the current month only',
    override: '`operations: { "usage.get": { query } }`',
  },
  {
    about: 'Fields of `build_budget`',
    assumed: '`hour` and `day`, each `{ limit, used }`, and `retry_after_seconds`',
    override: '`operations: { "usage.get": { data } }`',
  },
  {
    about: 'A 429 on a job-starting create',
    assumed:
      'a rate limit without an envelope; else one usage read decides, and if that fails, a `Retry-After` above 60 s means the build budget',
    override: '—',
  },
  { about: 'Time zone of `Y-m-d H:i:s`', assumed: 'UTC', override: '`serverTimeZone`' },
  { about: 'Request id header', assumed: '`x-request-id`', override: '`requestIdHeader`' },
  { about: 'Wrong credentials', assumed: '401; `AuthenticationError` with reason `credentials`', override: '—' },
  { about: 'Status 400 on a resource with `is_lookalike`', assumed: 'cancelled', override: '—' },
  { about: 'Cancel of a lookalike that has ended', assumed: 'refused with 422; `ValidationError`', override: '—' },
  {
    about: 'Final statuses of jobs',
    assumed: 'those that the specification shows; any other id is one of a running job',
    override: '`contract: { statuses }`',
  },
  { about: 'Estimates', assumed: 'the lifecycle of audiences', override: '—' },
  {
    about: 'Body of a lookalike create, `config.target_size` aside',
    assumed: '`name`, `source_audience_id`; others by `extraBody`',
    override: '`operations: { "lookalikes.create": { body } }`',
  },
  {
    about: 'Body of an activation create',
    assumed:
      '`audience_id`, `description`, `identifier`, `project_id`, `credentials`, `filters`; others by `extraBody`',
    override: '`operations: { "activations.create": { body } }`',
  },
  {
    about: 'Body of a cohort create',
    assumed: '`name`, `upload_reference`, `source_audience_id`, `project_id`; others by `extraBody`',
    override: '`operations: { "cohorts.create": { body } }`',
  },
  {
    about: 'Unique devices of an audience, for `explainActivation`',
    assumed: '`eligibility.metrics.unique_eids`',
    override: '—',
  },
  {
    about: 'Retention of mapping keys, for `explainActivation`',
    assumed: '90 days of UTC after the latest `end_date`, for audiences other than lookalikes',
    override: '—',
  },
  {
    about: 'Upload reservations',
    assumed:
      'body `{ kind, size }`, response `{ reference, url, expires_at }`, claimed as `upload_reference`; sizes are binary and inclusive (52,428,800 and 1,073,741,824 bytes)',
    override: '`operations: { "uploads.reserve": { data } }`',
  },
  {
    about: 'Headers that a presigned URL is signed for',
    assumed: 'none besides `Content-Length`: the type of a Blob is not sent',
    override: '`headers` of an upload',
  },
  {
    about: 'Error responses of storage to an upload',
    assumed: '401, 403, 404 and 410 mean that the slot has expired; 408, 429 and 5xx are transient',
    override: '—',
  },
  {
    about: 'Rows of resource lists, for waits',
    assumed: 'have a `status`; if they do not, or lack fields, resources are read one by one',
    override: "`waits: { via: 'get' }`",
  },
  {
    about: 'Lookalikes, for waits',
    assumed: 'rows of the list of audiences with the same ids, as long as both are read from one path',
    override: '`operations: { "lookalikes.get": … }`',
  },
  {
    about: 'The older one of two states of a resource, for events',
    assumed: 'the one with the earlier `updated_at`',
    override: '—',
  },
  {
    about: 'Messages to the MCP endpoint',
    assumed:
      '`initialize`, `ping`, `tools/list`, `resources/*`, `prompts/*` and notifications change nothing and are retried `always`; responses are JSON or an event stream that ends, without the envelope',
    override: '`operations: { "mcp.send": { retry } }`, for all messages',
  },
  {
    about: 'A response that must not be retried',
    assumed: 'has the header `x-should-retry: false`, as in several other APIs',
    override: '—',
  },
  { about: 'Result URIs of activations', assumed: 'plain http(s) links that need no token', override: '—' },
];

const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Returns the content of `docs/assumptions.md`. */
export function assumptionsPage(): string {
  const table = Object.keys(operations)
    .filter(isOperationName)
    .map((name) => {
      const { method, path, bucket, retry, startsJob, documented } = operations[name];
      return row(
        `\`${name}\``,
        `\`${method} ${path}\``,
        bucket,
        retry,
        startsJob ? 'yes' : '',
        documented ? 'shown' : '**assumed**',
      );
    });
  return [
    '# Assumptions about the service',
    '',
    'Written by `npm run docs:assumptions` from `src/spec/operations.ts`; do not edit.',
    '',
    'The specification of the service leaves some things open. This page lists what the package assumes',
    'instead, and how to override it without a new release.',
    '',
    '## Operations',
    '',
    'Override any row with the client option `operations`, for example',
    "`operations: { 'audiences.get': 'GET /api/v2/audience/{id}' }`. *Retry*: `idempotency-key` (under one) and",
    '`always` after any transient error, `never` only if the request certainly had no effect.',
    '',
    row('operation', 'request', 'bucket', 'retry', 'starts a job', 'specification'),
    row('---', '---', '---', '---', '---', '---'),
    ...table,
    '',
    '## Everything else',
    '',
    row('not shown', 'assumed', 'override'),
    row('---', '---', '---'),
    ...ASSUMPTIONS.map(({ about, assumed, override }) => row(about, assumed, override)),
    '',
  ].join('\n');
}
