import { describe, expect, onTestFinished, test } from 'vitest';
import { checkService, type JournalEntry, memoryJournal } from '../../../src/cli/check/index.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { namesFields } from './support/traits.ts';
import { startVariant } from './support/variant-service.ts';

const MARK = '0123456789abcdef0123456789abcdef';

/** Starts a service, and returns how to check it, and the ids of its projects. */
async function start(definition: Parameters<typeof startVariant>[0] = {}) {
  const service = await startVariant(definition);
  onTestFinished(() => service.close());
  const before = await service.resources();
  const ids = before.filter(({ kind }) => kind === 'projects').map(({ id }) => id);
  const journal = memoryJournal();
  const run = (expected?: ServiceContract) => {
    const { baseUrl, token, clock, fetch } = service;
    return checkService({ baseUrl, token, level: 'write', fetch, clock, journal, expected });
  };
  const deletes = () => service.requests.filter(({ path }) => path.includes('delete'));
  return { service, before, ids, journal, run, deletes };
}

const entryOf = (entry: Partial<JournalEntry>): JournalEntry => ({
  kind: 'projects',
  path: '/api/v2/projects/create',
  key: 'an-earlier-key',
  body: { name: `audience-check ${MARK}` },
  at: Date.UTC(2026, 10, 9),
  ids: [],
  before: [],
  ...entry,
});

describe('a check', () => {
  test.each([
    ['a project without the random name', (ids: readonly number[]) => entryOf({ ids })],
    ['ids without the list that was there before', (ids: readonly number[]) => entryOf({ ids, before: undefined })],
    ['a project that the list had before', (ids: readonly number[]) => entryOf({ ids, before: ids })],
  ])('deletes nothing that a journal names with %s, keeps the entry, and says what is left', async (_, entry) => {
    const { service, before, ids, journal, run, deletes } = await start();
    const [first = 0] = ids;
    await journal.save(entry([first]));
    const { left } = await run();
    expect(deletes()).toEqual([]);
    expect(await service.resources()).toEqual(before);
    expect(await journal.load()).toEqual(entry([first]));
    expect(left).toContain(`\`audience-check ${MARK}\` may be left among the projects`);
  });

  test('creates nothing if the list of projects cannot be read to its end', async () => {
    const { service, before, run } = await start({
      contract: { paging: { style: 'page', param: 'side', size: 'per_page' } },
    });
    const { findings } = await run();
    expect(findings.find(({ id }) => id === 'body:projects.create')).toMatchObject({
      state: 'not-checked',
      evidence: expect.stringContaining('cannot be read to the last one'),
    });
    expect(service.requests.filter(({ operation }) => operation === 'projects.create')).toEqual([]);
    expect(await service.resources()).toEqual(before);
  });

  test('leaves what does not have the name that was sent, and creates nothing more', async () => {
    const { service, before, run, deletes } = await start({
      traits: [namesFields('projects.create', { title: 'name' })],
    });
    const { left } = await run();
    expect(left).toMatch(/may be left among the projects/);
    expect(deletes()).toEqual([]);
    expect(await service.resources()).toHaveLength(before.length + 1);
    expect(service.requests.filter(({ operation }) => operation === 'audiences.create')).toEqual([]);
  });
});

describe('the paths of a contract', () => {
  test.each([
    ['projects.create', { path: '/api/v2/projects/145/delete' }],
    ['projects.create', { path: '/api/v2/projects/purge-all' }],
    ['projects.create', { path: '/api/v2/projects/{id}' }],
    ['projects.create', { path: '/api/v2/projects/%31%34%35' }],
    ['projects.create', { path: '/api/v2/audiences/create' }],
    ['uploads.reserve', { path: '/api/v2/projects/create' }],
    ['projects.delete', { path: '/api/v2/audiences/{id}/delete' }],
    ['projects.delete', { method: 'DELETE', path: '/api/v2/accounts/{id}' }],
    ['audiences.list', { path: '/api/v2/export/audiences' }],
    ['audiences.list', { method: 'POST', path: '/api/v2/audiences/search' }],
    ['audiences.get', { path: '/api/v2/audiences/{id}/delete' }],
  ] as const)('are not called if they could act on something else: %s at %j', async (name, way) => {
    const { service, before, run } = await start();
    const { findings } = await run({ operations: { [name]: way } });
    const finding = findings.find(({ id }) => id === `path:${name}`);
    expect(finding).toMatchObject({ state: 'not-checked', evidence: expect.stringContaining('must not call') });
    expect((await service.resources()).filter(({ name }) => !String(name).startsWith('audience-check'))).toEqual(
      before,
    );
  });

  test('are called if they are those of the operation', async () => {
    const contract = { operations: { 'projects.create': { path: '/api/v2/workspace/projects' } } } as const;
    const { service, before, run } = await start({ contract });
    const { findings } = await run(contract);
    expect(findings.find(({ id }) => id === 'path:projects.create')).toMatchObject({ state: 'differs' });
    expect(await service.resources()).toEqual(before);
  });
});
