import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../src/index.ts';
import { AUTHENTICATION } from './rules/authentication.ts';
import { ENDPOINTS } from './rules/endpoints.ts';
import { ERRORS_AND_EVENTS } from './rules/errors-and-events.ts';
import { RESOURCES } from './rules/resource-fields.ts';
import { expectSays, valueAt } from './rules/rule.ts';
import { LIMITS } from './rules/service-rules.ts';
import { STATES } from './rules/state-rules.ts';

const SECTIONS = { ...RESOURCES, ...STATES, ...ENDPOINTS, ...AUTHENTICATION, ...ERRORS_AND_EVENTS, ...LIMITS };

describe.each(Object.entries(SECTIONS))('the OpenAPI document says what the specification says: %s', (_, rules) => {
  it.each(rules)('$rule', ({ at, says }) => {
    expectSays(valueAt(at), says);
  });
});

/** An operation of the document. */
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly [field: string]: unknown;
}

describe('every operation below /api/v2', () => {
  const operations = Object.entries(openApiDocument().paths)
    .filter(([path]) => path.startsWith('/api/v2/'))
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, details]): Operation => ({ ...details, method, path })),
    );
  const general = operations.filter(({ path }) => path !== '/api/v2/mcp');
  const creates = operations.filter(({ path }) => path.endsWith('/create'));

  it('responds in JSON', () => {
    const types = operations.flatMap(({ path, responses }) =>
      Object.keys(Object(responses)).map((status) => [
        `${path} ${status}`,
        Object.keys(Object(valueAt(`${pointerOf(path)}/responses/${status}/content`) ?? { 'application/json': 1 }))[0],
      ]),
    );
    expect(types.filter(([, type]) => type !== 'application/json')).toEqual([]);
  });

  it('needs a bearer token, other than the credential exchange', () => {
    const open = operations.filter(({ security }) => Array.isArray(security) && security.length === 0);
    expect(open.map(({ path }) => path)).toEqual(
      ['login', 'api-token', 'api-token/revoke', 'mcp-token', 'mcp-token/revoke'].map((name) => `/api/v2/auth/${name}`),
    );
    expect(openApiDocument().security).toEqual([{ bearerToken: [] }]);
  });

  it('can get 401, 406, 429 and a server error', () => {
    for (const { path, responses } of operations)
      expect([path, Object.keys(Object(responses))]).toEqual([
        path,
        expect.arrayContaining(['401', '406', '429', '500']),
      ]);
  });

  it('counts GET in the bucket `read`, and creates and deletes in `write`', () => {
    for (const { method, path, ...operation } of general) {
      if (path.includes('/auth/')) continue;
      expect([path, operation['x-rate-limit-bucket']]).toEqual([path, method === 'get' ? 'read' : 'write']);
    }
  });

  it('can get 404 if it has an id', () => {
    const withId = operations.filter(({ path }) => path.includes('{id}'));
    expect(withId.length).toBeGreaterThan(10);
    for (const { path, responses } of withId) expect(Object.keys(Object(responses)), path).toContain('404');
  });

  it('honours an `Idempotency-Key` if it is one of seven creates, and can get 409', () => {
    const keyed = operations.filter(({ parameters }) => JSON.stringify(parameters).includes('IdempotencyKey'));
    expect(keyed).toHaveLength(7);
    for (const { path, responses } of keyed) expect(Object.keys(Object(responses)), path).toContain('409');
    expect(creates.length).toBeGreaterThanOrEqual(keyed.length);
  });

  it('starts a worker job if it creates an audience, an estimate, a lookalike, a cohort or an activation', () => {
    const jobs = operations.filter((operation) => operation['x-starts-job'] === true).map(({ path }) => path);
    expect(jobs.sort()).toEqual(
      ['activations', 'audiences', 'cohorts', 'estimates', 'lookalikes'].map((name) => `/api/v2/${name}/create`),
    );
  });

  it('does not show the signing secret of a webhook endpoint', () => {
    const { components } = openApiDocument();
    const schemas = Object.entries(Object(components.schemas)).filter(([name]) => !name.startsWith('OAuth'));
    expect(schemas.filter(([, schema]) => /"\w*secret\w*":/.test(JSON.stringify(schema)))).toEqual([]);
  });
});

/** Returns the pointer to the only operation of a path. */
function pointerOf(path: string): string {
  const [method] = Object.keys(openApiDocument().paths[path] ?? {});
  return `/paths/${path.replaceAll('/', '~1')}/${method}`;
}
