import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkService, type Journal, type JournalEntry, memoryJournal } from '../../../src/cli/check/index.ts';
import { fileJournal } from '../../../src/cli/check-journal.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import type { ServiceDefinition } from './support/emulation.ts';
import { fails, refusesUsedKeys } from './support/traits.ts';
import { type RunningVariant, startVariant } from './support/variant-service.ts';

const entry: JournalEntry = { kind: 'projects', path: '/p', key: 'k', body: { name: 'x' }, at: 1, ids: [5] };

describe('the journal', () => {
  test('keeps one entry in a file that only its owner can read', async () => {
    const folder = await temporaryDirectory();
    const path = join(folder, 'checks', 'one.json');
    const journal = fileJournal(path);
    expect(await journal.load()).toBeUndefined();
    await journal.save(entry);
    expect(await fileJournal(path).load()).toEqual(entry);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await journal.save(undefined);
    expect(await readdir(join(folder, 'checks'))).toEqual([]);
  });

  test('refuses a file that is something else', async () => {
    const path = join(await temporaryDirectory(), 'other.json');
    await writeFile(path, '{"token":"x"}');
    await expect(fileJournal(path).load()).rejects.toThrow(/was not written by a check/);
  });
});

async function start(definition: ServiceDefinition = {}) {
  const service = await startVariant(definition);
  onTestFinished(() => service.close());
  const run = (journal: Journal, fetch = service.fetch) => {
    const { baseUrl, token, clock } = service;
    return checkService({ baseUrl, token, level: 'write', fetch, clock, journal });
  };
  return { service, run };
}

const projects = async (service: RunningVariant) =>
  (await service.resources()).filter(({ kind }) => kind === 'projects').map(({ name }) => String(name));

/** Returns a `fetch` that stops for good at one request, before or after the service has acted: as a kill would. */
function stopping(
  service: RunningVariant,
  at: number,
  when: 'before' | 'after',
): { fetch: typeof fetch; died: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  const never = new Promise<Response>(() => {});
  return {
    died: promise,
    async fetch(input, init) {
      const isWrite = !['GET', 'OPTIONS'].includes(new Request(input, init).method);
      if (!isWrite || ++count !== at) return service.fetch(input, init);
      if (when === 'after') await service.fetch(input, init);
      resolve();
      return never;
    },
  };
}

const WRITES = [1, 2, 3, 4, 5, 6, 7, 8] as const;

describe('the check after one that was killed', () => {
  test.each(
    WRITES.flatMap((at) => [
      { at, when: 'before' as const },
      { at, when: 'after' as const },
    ]),
  )('leaves nothing: $when write $at', async ({ at, when }) => {
    const { service, run } = await start();
    const before = await service.resources();
    const journal = memoryJournal();
    const killed = stopping(service, at, when);
    void run(journal, killed.fetch);
    await killed.died;
    const report = await run(journal);
    expect(report.left).toBeUndefined();
    expect(await service.resources()).toEqual(before);
    expect(await journal.load()).toBeUndefined();
  });

  test('creates nothing more if the path of the delete is not known', async () => {
    const { service, run } = await start({ missing: ['projects.delete'] });
    const journal = memoryJournal();
    const before = await projects(service);
    expect((await run(journal)).left).toMatch(/may be left/);
    const second = await run(journal);
    expect(second.left).toMatch(/may be left/);
    expect(second.findings.find(({ id }) => id === 'path:projects.create')).toMatchObject({ state: 'not-checked' });
    expect(await projects(service)).toHaveLength(before.length + 1);
  });

  test('says what is left, if it reads only', async () => {
    const { service } = await start();
    const journal = memoryJournal();
    await journal.save(entry);
    const { baseUrl, token, clock, fetch } = service;
    const report = await checkService({ baseUrl, token, level: 'read', fetch, clock, journal });
    expect(report.left).toMatch(/may be left/);
    expect(await journal.load()).toEqual(entry);
  });

  test('does not repeat a create whose key the service may have forgotten', async () => {
    const { service, run } = await start();
    const journal = memoryJournal();
    const body = { name: 'audience-check 1' };
    const at = service.clock.now() - 23 * 3_600_000 - 1;
    await journal.save({ kind: 'projects', path: '/api/v2/projects/create', key: 'old', body, at, ids: [] });
    await run(journal);
    const creates = service.requests.filter(({ operation }) => operation === 'projects.create');
    expect(creates.map(({ body }) => body)).not.toContainEqual(body);
    expect(creates.length).toBeGreaterThan(0);
  });

  test('finds in the list what a create has left that has failed, although its key is refused', async () => {
    const { service, run } = await start({ traits: [refusesUsedKeys, fails('projects.create')] });
    const before = await projects(service);
    const journal = memoryJournal();
    expect((await run(journal)).left).toBeUndefined();
    expect(await projects(service)).toEqual(before);
    expect(await journal.load()).toBeUndefined();
  });

  test('keeps a create of unknown outcome until the service responds', async () => {
    const { service, run } = await start({ traits: [fails('projects.create', { acts: false, times: 4 })] });
    const before = await service.resources();
    const journal = memoryJournal();
    const first = await run(journal);
    expect(first.left).toMatch(/may be left/);
    expect(await journal.load()).toMatchObject({ kind: 'projects', ids: [] });
    await run(journal);
    const third = await run(journal);
    expect(third.left).toBeUndefined();
    expect(third.findings.find(({ id }) => id === 'path:projects.create')?.state).toBe('confirmed');
    expect(await service.resources()).toEqual(before);
  });
});
