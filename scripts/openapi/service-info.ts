import { assumed } from '../assumptions.ts';

/** Builds that an organization may start (specification, "Build budget"). */
export const BUILD_BUDGET = { hour: 60, day: 300, per: 'organization' } as const;

/** Rules of the service that concern more than one operation. */
const RULES: readonly (readonly [title: string, text: string])[] = [
  [
    'Jobs',
    'Creating an audience, an estimate, a lookalike, a cohort or an activation starts a worker job. Poll the resource, or receive its webhook events. An audience, a lookalike or an activation ends at 104 Completed, at 107 Additional Info (it cannot be built or processed as requested; only the console shows why) or at a 4xx error status; an activation is at 105 DataStreaming before it completes. A lookalike ends at 400 if its run was cancelled, and at 104 if the cancel arrived while it was being published. A cohort is at 1 to 3 while it is imported, and ends at 4 Completed or 5 Not Available.',
  ],
  [
    'Requests',
    'Every request other than of the credential exchange needs `Authorization: Bearer <token>`, and every request `Accept: application/json`. Bodies of POST are `application/json`, or `multipart/form-data` for file uploads.',
  ],
  [
    'Responses',
    'Every response of the API is JSON in an envelope of `status` (`success` or `error`), `code` (the HTTP status), `message` and `data`; 422 adds `errors`, and a 401 may consist of `message` only. Check the status code first, and branch on `status` and `code`: `message` is for the log. On 422, show `errors`; on 401, refresh the token and retry once.',
  ],
  [
    'Timestamps',
    'Those of resources are `Y-m-d H:i:s`, such as `2026-11-22 09:00:00`; those of webhook deliveries RFC 3339 UTC.',
  ],
  [
    'Rate limits',
    'Each token has its own buckets, so that clients of one company do not share them: `read` counts every GET, `write` every create and delete, `mcp` requests to the MCP endpoint, whose sub-requests count in `read` and `write`, too. `login` and `mint` count the requests of an IP address. `x-rate-limits` has the numbers.',
  ],
  [
    'Build budget',
    `Every create that starts a worker job counts, over all channels of the organization: by default ${BUILD_BUDGET.hour} in a rolling hour and ${BUILD_BUDGET.day} in a rolling day. Both can be raised for an organization. Replays of schedules do not count. Over budget, the service responds with 429 and \`Retry-After\`, and creates nothing.`,
  ],
  [
    'Passwords',
    'Changing the password in the console revokes every token of the account: login, API and MCP tokens, and all OAuth connections. Logins and logouts in the console never affect MCP tokens and OAuth connections. The console also manages API and MCP tokens, and revokes single ones; the API revokes all of a kind.',
  ],
  [
    'Versions',
    'The version of the API is in the prefix of its paths, `/api/v2`; OAuth and its discovery documents are outside of it. Webhook deliveries have a `schema_version`, currently 1.',
  ],
  [
    'This document',
    'It is generated from the package `audience-activation`. `x-assumed` marks what the specification of the service does not show, and says what is assumed. Fields that are not described may occur in every object.',
  ],
];

/** Title, version and rules of the service. */
export const INFO = {
  title: 'Audience Build and Activation Service API',
  version: '2',
  summary: 'Builds audiences, grows lookalikes, imports cohorts, and activates audiences at delivery partners.',
  description: [
    'Organizations build audiences from datasets, such as web-domain visitation and affinity transactions, and lookalikes from completed seed audiences; they import cohorts from uploaded files, activate (export) audiences to delivery partners through datastreams, organize work into projects and schedules, and read usage reports.',
    ...RULES.map(([title, text]) => `**${title}.** ${text}`),
  ].join('\n\n'),
  license: { name: 'MIT', identifier: 'MIT' },
  contact: { name: 'audience-activation', url: 'https://www.npmjs.com/package/audience-activation' },
  ...assumed('timeZone'),
};

/** Description of OAuth, as a group of operations. */
export const OAUTH_DESCRIPTION =
  'OAuth 2.1 for clients of the MCP endpoint, outside of the versioned API: errors have `error` and `error_description` (RFC 6749, RFC 7591) instead of the envelope. The discovery documents are authoritative for scopes, grant types and addresses.';

/** The ways to authenticate. */
export const SECURITY_SCHEMES = {
  bearerToken: {
    type: 'http',
    scheme: 'bearer',
    description: [
      'A login token, from `POST /api/v2/auth/login`: one is live per account, because each login deletes the previous one; a logout in the console and a change of password revoke it; its lifetime is not specified.',
      'Or an API token, from `POST /api/v2/auth/api-token`: named `api`, without scopes, valid for 365 days on every general operation, but not on `POST /api/v2/mcp`. Logins do not rotate it, and it survives a logout; a change of password, a revocation or its expiry end it. At most 10 are active per account.',
    ].join('\n\n'),
  },
  mcpToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An MCP token, from `POST /api/v2/auth/mcp-token`: of scope `mcp`, valid for a year. Logins do not rotate it, and it survives a logout; a change of password revokes all. At most 10 are active per account.',
  },
  oauth: {
    type: 'oauth2',
    description:
      'OAuth 2.1. PKCE is mandatory for every authorization request, including those of confidential clients: `code_challenge_method=S256` is the only method. The access token is valid for 1 hour, and revoked with its refresh token; the refresh token for 60 days. Each refresh issues a new pair, and the old one is invalid. A change of password in the console ends all connections.',
    'x-pkce': 'S256',
    flows: {
      authorizationCode: {
        authorizationUrl: '/oauth/authorize',
        tokenUrl: '/oauth/token',
        refreshUrl: '/oauth/token',
        scopes: { mcp: 'Use the MCP endpoint. It is the only scope.' },
      },
    },
  },
} as const;
