import { field, operation, type Rules, rule, says } from './rule.ts';

const INFO = '/info/description';
const LIMITS_AT = '/x-rate-limits';
const description = (request: string): string => `${operation(request)}/description`;
const ACTIVATE = description('POST /api/v2/activations/create');
const pagination = (name: string): string => `${operation(`GET /api/v2/${name}`)}/x-pagination`;

const LISTS = ['audiences', 'activations', 'cohorts', 'projects', 'schedules'];
const REFERENCE = 'reference/{dataset}/{name}';

/** Specification, "Limits" and "Versioning". */
export const LIMITS: Rules = {
  'Rate limits': [
    rule('Read: 120 a minute', `${LIMITS_AT}/read`, { limit: 120, interval_seconds: 60, per: 'token' }),
    ...says(INFO, {
      'Read: every GET': /`read` counts every GET/,
      'Write: every create and delete': /`write` every create and delete/,
      'MCP: sub-requests also use read and write': /sub-requests count in `read` and `write`, too/,
    }),
    rule('Write: 30 a minute', `${LIMITS_AT}/write`, { limit: 30, interval_seconds: 60, per: 'token' }),
    rule('MCP endpoint: 120 a minute', `${LIMITS_AT}/mcp`, { limit: 120, interval_seconds: 60, per: 'token' }),
    rule('Login: 180 a minute per client IP', `${LIMITS_AT}/login`, {
      limit: 180,
      interval_seconds: 60,
      per: 'client IP',
    }),
    rule('Login: `POST /api/v2/auth/login`', operation('POST /api/v2/auth/login'), { 'x-rate-limit-bucket': 'login' }),
    rule('Token mint and revoke: 10 a minute per IP', `${LIMITS_AT}/mint`, {
      limit: 10,
      interval_seconds: 60,
      per: 'client IP',
    }),
    ...['api-token', 'api-token/revoke', 'mcp-token', 'mcp-token/revoke'].map((path) =>
      rule(`Mint: ${path}`, operation(`POST /api/v2/auth/${path}`), { 'x-rate-limit-bucket': 'mint' }),
    ),
  ],
  'Build budget': [
    rule('The budget is per organization', '/x-build-budget/per', 'organization'),
    rule('60 builds in a rolling hour', '/x-build-budget/hour', 60),
    rule('300 builds in a rolling day', '/x-build-budget/day', 300),
    ...says(INFO, {
      'The description says both': /60 in a rolling hour and 300 in a rolling day/,
      'Over budget: 429 with `Retry-After`': /429 and `Retry-After`, and creates nothing/,
    }),
  ],
  'Other limits': [
    ...says(description('POST /api/v2/auth/api-token'), {
      'Active API tokens per user: 10': /10 active API tokens/,
      'API token lifetime: 1 year': /for a year/,
    }),
    ...says(description('POST /api/v2/auth/mcp-token'), {
      'Active MCP tokens per user: 10': /10 active MCP tokens/,
      'MCP token lifetime: 1 year': /for a year/,
    }),
    rule('Replay window: 24 hours', '/components/parameters/IdempotencyKey/description', /for 24 hours/),
    ...says(field('UploadRequest', 'size'), {
      'Upload sizes: 50 MB and 1 GB': /50 MiB.*`poi_submission`, 1 GiB.*`cohort`/,
      'Upload sizes have bounds': { minimum: 0, maximum: 2 ** 30 },
    }),
    rule('The unit of the sizes is assumed', `${field('UploadRequest')}/x-assumed`, /52,428,800 bytes/),
    ...says(description('POST /api/v2/uploads/create'), {
      'Presigned URL and claim window: 15 minutes': /Within 15 minutes, send the file.* and claim/,
      'Unclaimed uploads are cleaned up after 24 hours':
        /deletes unclaimed uploads after 24 hours, which does not extend the 15 minutes/,
    }),
    ...says(ACTIVATE, {
      'Minimum devices to activate: 500': /at least 500 unique devices/,
      'Lookalike output to activate: 1,000 devices': /at least 500 unique devices, a lookalike 1,000/,
    }),
    rule(
      'Affinity coverage: EIDs exceed 2 times SCIDs',
      field('Audience', 'eligibility.metrics'),
      /must exceed 2 times `unique_scids`/,
    ),
    ...says(field('Audience', 'dataset[].end_date'), {
      'Mapping keys: 90 days after the latest end date': /90 days after its latest end date/,
      'afterwards MAID and IP are blocked': /After that, .* but not MAID and IP/,
      'EID, SCID and HEM are unaffected': /can deliver EID, SCID and HEM/,
    }),
    rule('Web visitation lookback: 45 days', field('Audience', 'dataset[].start_date'), /at most 45 days ago/),
    rule('Lookalike seed: 1,000 devices', field('LookalikeCreate', 'source_audience_id'), /at least 1,000 devices/),
    rule('Earliest usage month: 2020-01', `${operation('GET /api/v2/usage')}/parameters/0/description`, /from 2020-01/),
  ],
  Pagination: [
    ...LISTS.flatMap((name) => [
      rule(`${name}: 25 by default, at most 100`, pagination(`${name}/index`), { size: 25, cap: 100 }),
      rule(
        `${name}: the default is in the schema`,
        `${operation(`GET /api/v2/${name}/index`)}/parameters/1/schema/default`,
        25,
      ),
      rule(
        `${name}: the cap is in the description`,
        `${operation(`GET /api/v2/${name}/index`)}/parameters/1/description`,
        /at most 100/,
      ),
      rule(
        `${name}: larger pages are assumed to be reduced`,
        `${operation(`GET /api/v2/${name}/index`)}/parameters/1/x-assumed`,
        /reduces the value to the maximum/,
      ),
    ]),
    rule('Reference reads: 500 by default and at most', pagination(REFERENCE), { size: 500, cap: 500 }),
    rule('Apps: 250 by default, no cap', `${pagination(REFERENCE)}/datasets/apps`, { size: 250, cap: null }),
    rule(
      'Reference reads of Common, Web, CTV and Apps',
      `${operation(`GET /api/v2/${REFERENCE}`)}/parameters/0/schema/enum`,
      ['common', 'web', 'ctv', 'apps'],
    ),
  ],
  Versioning: [
    ...says(INFO, {
      'The version is in the path prefix': /in the prefix of its paths, `\/api\/v2`/,
      'Webhook payloads carry `schema_version`, currently 1': /`schema_version`, currently 1/,
    }),
    rule('The version is 2', '/info/version', '2'),
  ],
};
