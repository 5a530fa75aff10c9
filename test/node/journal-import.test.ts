import '../support/nothing-left.ts';
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import { openFile } from '../../src/node/index.ts';
import { type JournalBench, startJournalBench } from '../support/journal.ts';
import { failureOf } from '../support/server.ts';

const MINUTE = 60_000;
const FIELDS = { name: 'Customers' };

/** A journal's bench with a file, and the import of that file. */
interface ImportBench extends JournalBench {
  readonly file: string;
  /** Opens the journal, imports the file, and closes the journal. */
  importFile(maxRetries?: number): Promise<number>;
  /** Returns how many requests of an operation the service has received. */
  requests(end: string): number;
}

async function startImportBench(options: ClientOptions = {}): Promise<ImportBench> {
  const bench = await startJournalBench({ clock: 'manual', jobs: { duration: 0 } }, options);
  const file = `${bench.path}.csv`;
  await writeFile(file, 'maid\nx\n');
  return {
    ...bench,
    file,
    async importFile(maxRetries) {
      const journal = await bench.open();
      const options = maxRetries === undefined ? {} : { maxRetries };
      return journal.import(bench.client.cohorts, 'customers', file, FIELDS, options).finally(() => journal.close());
    },
    requests: (end) => bench.sandbox.log.filter(({ path }) => path.endsWith(end)).length,
  };
}

const cohortsOf = async ({ client }: JournalBench): Promise<number> =>
  (await client.cohorts.list().toArray({ limit: 100 })).length;

/** Lets the process end after the claim was written to the journal, and before the service has received it. */
async function loseClaim(bench: ImportBench): Promise<void> {
  bench.sandbox.faults.add({ on: 'cohorts.create', cut: 'before', times: 1 });
  expect(await failureOf(bench.importFile(0))).toMatchObject({ outcome: 'unknown' });
}

describe('an import with a journal', () => {
  it('creates a cohort once, and does not read an unchanged file again', async () => {
    const bench = await startImportBench();
    const id = await bench.importFile();
    expect(await bench.importFile()).toBe(id);
    await rm(bench.file);
    expect(await bench.importFile()).toBe(id);
    expect([bench.requests('/uploads/create'), bench.requests('/cohorts/create'), await cohortsOf(bench)]).toEqual([
      1, 1, 1,
    ]);
    expect((await bench.client.cohorts.wait(id)).status.id).toBe(4);
    expect(await readFile(bench.path, 'utf8')).not.toMatch(/maid|https?:.*https?:/s);
  });

  it('receives the response that was lost, without another upload', async () => {
    const bench = await startImportBench();
    bench.sandbox.faults.add({ on: 'cohorts.create', cut: 'after', times: 1 });
    expect(await failureOf(bench.importFile(0))).toMatchObject({ outcome: 'unknown' });
    await bench.importFile();
    expect([bench.requests('/uploads/create'), await cohortsOf(bench)]).toEqual([1, 1]);
    expect(bench.sandbox.log.filter(({ replayed }) => replayed)).toHaveLength(1);
  });

  it('continues under its key after its slot has expired, with another upload', async () => {
    const bench = await startImportBench();
    await loseClaim(bench);
    const [, { sent, at } = {}] = await bench.lines();
    await bench.sandbox.advance(16 * MINUTE);
    await bench.importFile();
    expect([bench.requests('/uploads/create'), await cohortsOf(bench)]).toEqual([2, 1]);
    expect((await bench.lines())[2]).toMatchObject({ sent, at });
  });

  it.each([
    ['uploads the file once more if its slot expires before the service accepts the claim', false],
    ['refuses a file that is replaced while the service refuses an earlier slot', true],
  ])('%s', async (_, isReplaced) => {
    let beforeClaim: (() => Promise<unknown>) | undefined;
    const bench = await startImportBench({
      fetch: async (input, init) => {
        if (String(input).endsWith('/cohorts/create')) await beforeClaim?.();
        return fetch(input, init);
      },
    });
    if (isReplaced) await loseClaim(bench);
    const { size, mtime } = await stat(bench.file);
    beforeClaim = async () => {
      beforeClaim = undefined;
      await bench.sandbox.advance(16 * MINUTE);
      if (!isReplaced) return;
      await writeFile(`${bench.file}.new`, 'y'.repeat(size));
      await utimes(`${bench.file}.new`, mtime, mtime);
      await rename(`${bench.file}.new`, bench.file);
    };
    if (isReplaced) expect(await failureOf(bench.importFile())).toMatchObject({ code: 'file-changed' });
    else await bench.importFile();
    expect(await cohortsOf(bench)).toBe(isReplaced ? 0 : 1);
  });

  it('creates no second cohort if the slot has expired after its response was lost', async () => {
    let isExpired = false;
    // A service that checks the slot before the key.
    const bench = await startImportBench({
      fetch: async (input, init) => {
        if (!isExpired || !String(input).endsWith('/cohorts/create')) return fetch(input, init);
        isExpired = false;
        const errors = { upload_reference: ['has expired.'] };
        return Response.json({ status: 'error', code: 422, message: 'Invalid.', errors, data: [] }, { status: 422 });
      },
    });
    bench.sandbox.faults.add({ on: 'cohorts.create', cut: 'after', times: 1 });
    await failureOf(bench.importFile(0));
    isExpired = true;
    expect(await failureOf(bench.importFile())).toMatchObject({ code: 'conflict', outcome: 'unknown' });
    expect(await cohortsOf(bench)).toBe(1);
  });

  it('refuses a file whose content has changed, and accepts a file if only its time has changed', async () => {
    const bench = await startImportBench();
    const id = await bench.importFile();
    await utimes(bench.file, 1, 1);
    expect(await bench.importFile()).toBe(id);
    await writeFile(bench.file, 'maid\ny\n');
    expect(await failureOf(bench.importFile())).toMatchObject({ code: 'body-changed', key: 'customers' });
    expect(await cohortsOf(bench)).toBe(1);
  });

  it('takes a file again under its key, as the refusal of `create` for another upload of a file advises', async () => {
    const bench = await startImportBench();
    const { cohorts, uploads } = bench.client;
    const journal = await bench.open();
    const create = async (): Promise<number> => {
      const { reference } = await uploads.upload({ kind: 'cohort', data: await openFile(bench.file) });
      return journal.create(cohorts, 'customers', { name: 'Customers', upload_reference: reference });
    };
    const id = await create();
    const error = await failureOf(create());
    expect(String(error)).toContain(`and has the id ${id}`);
    expect(String(error)).toContain(
      'use the cohort with that id. For another file, use another key. `journal.import` compares files',
    );
    expect((await cohorts.get(id)).name).toBe('Customers');
    const other = await journal.import(cohorts, 'customers 2', bench.file, FIELDS);
    expect(await journal.import(cohorts, 'customers 2', await openFile(bench.file), FIELDS)).toBe(other);
    expect(await cohortsOf(bench)).toBe(2);
  });

  it('takes a file that was opened, and refuses one that is empty or missing', async () => {
    const bench = await startImportBench();
    const journal = await bench.open();
    const { cohorts } = bench.client;
    const id = await journal.import(cohorts, 'customers', await openFile(bench.file), FIELDS);
    expect(await journal.import(cohorts, 'customers', bench.file, FIELDS)).toBe(id);
    await writeFile(bench.file, '');
    const error = await failureOf(journal.import(cohorts, 'empty', bench.file, FIELDS));
    expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining('is empty') });
    await rm(bench.file);
    expect(await failureOf(journal.import(cohorts, 'none', bench.file, FIELDS))).toMatchObject({
      code: 'file-unreadable',
    });
  });
});
