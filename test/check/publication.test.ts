import { expect, onTestFinished, test } from 'vitest';
import { checkService } from '../../src/check/index.ts';
import type { OperationName } from '../../src/spec/operations.ts';
import { json } from './support/exchange.ts';
import { startVariant } from './support/variant-service.ts';

/** Checks a service that publishes operations, and returns what the check makes of their paths. */
async function likelyPaths(paths: Readonly<Record<string, Readonly<Record<string, object>>>>) {
  const document = { openapi: '3.1.0', info: {}, servers: [{ url: '/' }], paths };
  const service = await startVariant({
    missing: ['projects.create', 'projects.delete', 'audiences.create'],
    traits: [() => ({ answer: ({ path }) => (path === '/openapi.json' ? json(200, document) : undefined) })],
  });
  onTestFinished(() => service.close());
  const { baseUrl, token, fetch, clock } = service;
  const { findings } = await checkService({ baseUrl, token, level: 'read', fetch, clock });
  return Object.fromEntries(
    findings.flatMap(({ id, state, setting }) =>
      state === 'likely' && setting ? [[id, setting.operations?.[nameOf(id)]]] : [],
    ),
  );
}

const nameOf = (id: string) => id.replace('path:', '') as OperationName; // of a finding about a path

test.each([
  ['post', '/api/v2/acme/projects', {}, { 'path:projects.create': { path: '/api/v2/acme/projects' } }],
  ['post', '/api/v2/projects/store', {}, { 'path:projects.create': { path: '/api/v2/projects/store' } }],
  [
    'post',
    '/api/v2/work/begin',
    { operationId: 'createProject' },
    { 'path:projects.create': { path: '/api/v2/work/begin' } },
  ],
  [
    'delete',
    '/api/v2/projects/{project}',
    {},
    { 'path:projects.delete': { method: 'DELETE', path: '/api/v2/projects/{id}' } },
  ],
  ['post', '/api/v2/audiences/{id}/lookalikes', {}, {}],
  ['post', '/api/v2/workspaces/\u202eprojects', {}, {}],
  ['post', '/api/v2/projects/archive-all', {}, {}],
  ['post', '/api/v2/projects/archive-all', { operationId: 'createArchiveOfProjects' }, {}],
  ['post', '/api/v2/projects/delete', {}, {}],
  ['post', '/api/v2/projects/{id}', {}, {}],
  ['delete', '/api/v2/projects', {}, {}],
  ['delete', '/api/v2/projects/{id}/members', {}, {}],
  ['post', '/api/v2/accounts/77/projects', {}, {}],
  ['post', '/api/v2/audiences/{id}/activate', { operationId: 'createAudienceActivation' }, {}],
] as const)('%s %s %j is published: %j', async (method, path, operation, expected) => {
  expect(await likelyPaths({ [path]: { [method]: operation } })).toEqual(expected);
});
