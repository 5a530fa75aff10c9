import '../support/nothing-left.ts';
import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, vi } from 'vitest';

import { type AudienceClient, apiToken, memoryTokenStore } from '../../src/index.ts';
import { type Journal, JournalError, openJournal, readJournal } from '../../src/node/index.ts';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { openFilesBelow } from '../support/directory.ts';
import { fillDisk, type JournalBench, startJournalBench } from '../support/journal.ts';
import { quickly } from '../support/quickly.ts';
import { credentials, recentDataset } from '../support/sandbox.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { someOf } from '../support/volume.ts';

const HOUR = 3_600_000;
const NORTH = { name: 'North', dataset: [] };
const NEWLINE = 10;

/** Changes the file of a journal. */
async function edit(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(path, change(await readFile(path, 'utf8')));
}

/** Opens a journal that does not exist yet, beside a sandbox. */
async function openNew(options?: SandboxOptions): Promise<{ bench: JournalBench; journal: Journal }> {
  const bench = await startJournalBench(options);
  return { bench, journal: await bench.open() };
}

/** Lets the response of the first create be lost, and returns a journal in which its outcome is not known. */
async function loseResponse(bench: JournalBench, client = bench.client): Promise<void> {
  bench.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
  const journal = await bench.open(client);
  const error = await failureOf(journal.create(client.audiences, 'north', NORTH, { maxRetries: 0 }));
  expect(error).toMatchObject({ outcome: 'unknown' });
  await journal.close();
}

/** Moves the time at which the creates of a journal were sent. */
const moveSent = (path: string, ms: number): Promise<void> =>
  edit(path, (text) =>
    text.replace(/"at":"([^"]+)"/g, (_, at: string) => `"at":"${new Date(Date.parse(at) + ms).toISOString()}"`),
  );

describe('a journal', () => {
  it('creates a resource once for each key, also when it is opened again', async () => {
    const { bench, journal } = await openNew();
    const id = await journal.create(bench.client.audiences, 'north', NORTH);
    expect(await journal.create(bench.client.audiences, 'north', { dataset: [], name: 'North' })).toBe(id);
    expect(journal.find('north', NORTH)).toBe(id);
    expect(journal.find('south', NORTH)).toBeUndefined();
    await journal.close();
    await using again = await openJournal(pathToFileURL(bench.path), bench.client);
    expect(await again.create(bench.client.audiences, 'north', NORTH)).toBe(id);
    expect(again.get('north')).toMatchObject({ id, forgotten: 0 });
    expect(bench.sent()).toBe(1);
  });

  it('contains no body, no token and no name, and only its owner can read it', async () => {
    const { bench, journal } = await openNew();
    const id = await journal.create(bench.client.audiences, 'north', { name: 'A secret name', dataset: [] });
    expect(await bench.lines()).toEqual([
      { journal: 1, id: expect.any(String), service: bench.url },
      {
        key: 'north',
        sent: expect.stringMatching(/^journal-[\da-f]{64}$/),
        at: expect.any(String),
        kind: 'audiences',
        by: expect.stringMatching(/^[\da-f]{16}$/),
      },
      { key: 'north', id, account: expect.stringMatching(/^[\da-f]{16}$/) },
    ]);
    expect(await readFile(bench.path, 'utf8')).not.toMatch(/secret|token|Bearer|@/);
    expect((await stat(bench.path)).mode & 0o777).toBe(0o600);
  });

  it('takes creates of every namespace that has an idempotency key', async () => {
    const { bench, journal } = await openNew({ jobs: { duration: 0 } });
    const { client } = bench;
    const dataset = recentDataset();
    const seed = await client.audiences.wait(await journal.create(client.audiences, 'seed', { name: 'Seed', dataset }));
    const config = { target_size: 1_000 };
    await journal.create(client.lookalikes, 'alike', { name: 'Alike', source_audience_id: seed.id, config });
    await journal.create(client.estimates, 'estimate', { name: 'A', dataset });
    await journal.create(client.activations, 'activation', { audience_id: seed.id });
    await journal.create(client.projects, 'project', { name: 'Project' });
    await journal.create(client.schedules, 'schedule', { name: 'Schedule', audience_id: seed.id });
    expect(bench.sent()).toBe(6);
  });

  it('creates once for two calls at the same time', async () => {
    const { bench, journal } = await openNew();
    const create = (): Promise<number> => journal.create(bench.client.audiences, 'north', NORTH);
    const [one, other] = await Promise.all([create(), create()]);
    expect(one).toBe(other);
    expect(bench.sent()).toBe(1);
  });

  it('refuses another body under a key, and accepts it under another key', async () => {
    const { bench, journal } = await openNew();
    const { audiences } = bench.client;
    const id = await journal.create(audiences, 'north', NORTH);
    const error = await failureOf(journal.create(audiences, 'north', { name: 'Other', dataset: [] }));
    expect(error).toMatchObject({ name: 'JournalError', code: 'body-changed', key: 'north', path: bench.path });
    expect(JournalError.isInstance(error)).toBe(true);
    expect(String(error)).toContain(`and has the id ${id}. Each key is bound to one body. Use another key.`);
    expect(() => journal.find('north', { name: 'Other' })).toThrow(/another body/);
    expect(await journal.create(audiences, 'north 2', { name: 'Other', dataset: [] })).not.toBe(id);
    expect(await bench.names()).toEqual(['North', 'Other']);
  });

  it('creates a key again after it was forgotten, also with the same body', async () => {
    const { bench, journal } = await openNew();
    const id = await journal.create(bench.client.audiences, '__proto__', NORTH);
    await journal.forget('__proto__');
    await journal.forget('never used');
    const next = await journal.create(bench.client.audiences, '__proto__', NORTH);
    expect(next).not.toBe(id);
    await journal.close();
    expect((await bench.open()).get('__proto__')).toMatchObject({ id: next, forgotten: 1 });
    expect(await bench.names()).toEqual(['North', 'North']);
  });

  it.each([
    ['a text', 'x' as never],
    ['a list', [] as never],
    ['a BigInt', { name: 1n } as never],
  ])('refuses %s as a body', async (_, body) => {
    const { bench, journal } = await openNew();
    const error = await failureOf(journal.create(bench.client.audiences, 'north', body));
    expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining('`body`') });
    expect(await bench.lines()).toHaveLength(1);
  });

  it('refuses an empty key, an invalid path, and creates after it was closed', async () => {
    const { bench, journal } = await openNew();
    const { audiences } = bench.client;
    expect(await failureOf(journal.create(audiences, '', NORTH))).toMatchObject({ name: 'ConfigurationError' });
    expect(await failureOf(openJournal('', bench.client))).toMatchObject({ name: 'ConfigurationError' });
    await journal.close();
    const error = await failureOf(journal.create(audiences, 'north', NORTH));
    expect(String(error)).toContain('The journal was closed. Open it again.');
    expect(await (await bench.open()).create(audiences, 'north', NORTH)).toEqual(expect.any(Number));
    expect(bench.sent()).toBe(1);
  });

  it('ends the creates in progress when it is closed, and leaves no file open', async () => {
    const bench = await startJournalBench();
    const release = bench.sandbox.faults.add({ on: 'audiences.create', inFlight: HOUR });
    const journal = await bench.open();
    const creating = failureOf(journal.create(bench.client.audiences, 'north', NORTH));
    await vi.waitFor(async () => expect(await bench.lines()).toHaveLength(2));
    await journal.close();
    expect(String(await creating)).toContain('The journal was closed');
    expect(await openFilesBelow(dirname(bench.path))).toEqual([]);
    release();
  });
});

describe('a journal whose process was killed', () => {
  it('creates nothing twice and loses nothing, cut at any byte', async () => {
    const bench = await startJournalBench();
    const { audiences } = bench.client;
    const keys = ['süd'];
    const createAll = (journal: Journal): Promise<number[]> =>
      Promise.all(keys.map((key) => journal.create(audiences, key, { name: key, dataset: [] })));
    const first = await bench.open();
    const ids = await createAll(first);
    await first.finish('süd', { audience: ids[0] });
    await first.close();
    const content = await readFile(bench.path);
    const header = content.indexOf('\n');
    const sizes = Array.from({ length: content.length + 1 }, (_, size) => size);
    const ends = sizes.filter((size) => [content[size - 1], content[size]].includes(NEWLINE));
    for (const size of new Set([...someOf(sizes), ...ends])) {
      await writeFile(bench.path, content.subarray(0, size));
      const journal = await openJournal(bench.path, bench.client);
      // Nothing was sent before the header was complete.
      if (size <= header) expect(keys.map((key) => journal.get(key))).toEqual([undefined]);
      else expect(await createAll(journal)).toEqual(ids);
      await journal.close();
      const lines = await bench.lines();
      expect(lines[0]).toMatchObject({ journal: 1, service: bench.url });
    }
    expect(await bench.names()).toEqual(['süd']);
  });

  it('is read without the zeros that a file system has left at its end', async () => {
    const bench = await startJournalBench();
    await loseResponse(bench);
    for (const rest of ['\0\0\0\0', '{"key":"so\0\0\0\0']) {
      await appendFile(bench.path, rest);
      const journal = await bench.open();
      await journal.create(bench.client.audiences, 'north', NORTH);
      await journal.close();
    }
    expect((await bench.lines()).map(Object.keys)).toEqual([
      ['journal', 'id', 'service'],
      ['key', 'sent', 'at', 'kind', 'by'],
      ['key', 'sent', 'at', 'kind', 'by'],
      ['key', 'id', 'account'],
    ]);
    await writeFile(bench.path, '{"journal":1,"id\0\0');
    expect((await bench.open()).get('north')).toBeUndefined();
    expect(await bench.names()).toEqual(['North']);
  });

  it.each([
    ['25 hours', -25 * HOUR],
    ['less than an hour before the key expires', -23.01 * HOUR],
    ['ten minutes before it was sent, because a clock was wrong', HOUR / 6],
  ])('creates nothing when it is started again after %s, and says what to do', async (_, moved) => {
    const bench = await startJournalBench();
    await loseResponse(bench);
    await moveSent(bench.path, moved);
    const journal = await bench.open();
    const error = await failureOf(journal.create(bench.client.audiences, 'north', NORTH));
    expect(error).toMatchObject({ code: 'outcome-expired', outcome: 'unknown', key: 'north', path: bench.path });
    expect(bench.sent()).toBe(1);

    // The advice: for an audience that is there, and for one that is not.
    expect(String(error)).toContain('`journal.resolve("north", id)`, or `aud run` with `--resolve north=<id>`.');
    expect(String(error)).toContain('`journal.forget("north")`, or `--forget north`.');
    await journal.resolve('north', 42);
    expect(await journal.create(bench.client.audiences, 'north', NORTH)).toBe(42);
    await journal.close();
    const again = await bench.open();
    expect(await again.create(bench.client.audiences, 'north', NORTH)).toBe(42);
    await again.forget('north');
    expect(await again.create(bench.client.audiences, 'north', NORTH)).not.toBe(42);
    expect(bench.sent()).toBe(2);
  });

  it('sends a create again within 23 hours of its first attempt, and with a clock that is four minutes ahead', async () => {
    for (const moved of [-22.9 * HOUR, 240_000]) {
      const bench = await startJournalBench();
      await loseResponse(bench);
      await moveSent(bench.path, moved);
      await (await bench.open()).create(bench.client.audiences, 'north', NORTH);
      expect(await bench.names()).toEqual(['North']);
    }
  });

  it('does not send a create again after it has waited for the budget until its key is too old', () =>
    quickly(async () => {
      const bench = await startJournalBench({}, { maxRetryWait: 24 * HOUR });
      await loseResponse(bench);
      await moveSent(bench.path, 3_000 - 23 * HOUR);
      bench.sandbox.faults.add({ on: 'audiences.create', status: 429, retryAfter: 7_200 });
      const journal = await bench.open();
      const create = (): Promise<unknown> => failureOf(journal.create(bench.client.audiences, 'north', NORTH));
      expect(await create()).toMatchObject({ code: 'rate-limited', outcome: 'unknown' });
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      expect(await create()).toMatchObject({ code: 'outcome-expired' });
    }));

  it('refuses a changed body while the outcome of a create is unknown, and afterwards accepts it under another key', async () => {
    const bench = await startJournalBench();
    await loseResponse(bench);
    const journal = await bench.open();
    const { audiences } = bench.client;
    const error = await failureOf(journal.create(audiences, 'north', { name: 'Other', dataset: [] }));
    expect(error).toMatchObject({ code: 'body-changed', outcome: 'unknown' });
    expect(String(error)).toContain('Repeat the create request with the body that was sent at ');
    await journal.create(audiences, 'north', NORTH);
    expect(await failureOf(journal.create(audiences, 'north', { name: 'Other', dataset: [] }))).toMatchObject({
      code: 'body-changed',
    });
    await journal.create(audiences, 'north 2', { name: 'Other', dataset: [] });
    expect(await bench.names()).toEqual(['North', 'Other']);
  });
});

describe('a journal of another account', () => {
  const startTwo = async (): Promise<{ bench: JournalBench; other: AudienceClient }> => {
    const bench = await startJournalBench();
    const account = bench.sandbox.accounts.create({ email: 'eve@example.com', password: 'another horse' });
    return { bench, other: bench.connect({ token: account.token('api') }) };
  };

  it('is refused after one read, and nothing is created', async () => {
    const { bench, other } = await startTwo();
    const journal = await bench.open();
    await journal.create(bench.client.audiences, 'north', NORTH);
    await journal.close();
    const [before, requests] = [await readFile(bench.path, 'utf8'), bench.sandbox.log.length];
    const error = await failureOf(bench.open(other));
    expect(error).toMatchObject({ name: 'JournalError', code: 'account-changed', path: bench.path });
    expect(String(error)).toContain('Use a token of that account, or another journal.');
    expect(bench.sandbox.log.length - requests).toBe(1);
    expect(await readFile(bench.path, 'utf8')).toBe(before);
    expect(await (await bench.open()).create(bench.client.audiences, 'north', NORTH)).toEqual(expect.any(Number));
  });

  it('is refused if the account sees its resources, but another user has created them', async () => {
    const creator = (email: string): object => ({
      data: { id: 5, status: { id: 101, name: 'x' }, created_by: { name: 'x', email } },
    });
    const server = await startServer({
      'POST /api/v2/audiences/create': [creator('ada@example.com')],
      'GET /api/v2/audiences/5': [creator('eve@example.com'), creator('ada@example.com')],
    });
    const bench = await startJournalBench();
    const client = clientOf(server);
    const journal = await bench.open(client);
    await journal.create(client.audiences, 'north', NORTH);
    await journal.close();
    const renewed = clientOf(server, { token: 'renewed' });
    expect(await failureOf(bench.open(renewed))).toMatchObject({ code: 'account-changed' });
    expect((await bench.open(renewed)).get('north')).toMatchObject({ id: 5 });
  });

  it('is used with another token of its account, also if the last audience was deleted', async () => {
    const { bench } = await startTwo();
    const journal = await bench.open();
    const { audiences } = bench.client;
    await journal.create(audiences, 'north', NORTH);
    await audiences.delete(await journal.create(audiences, 'south', NORTH));
    bench.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    await failureOf(journal.create(audiences, 'east', NORTH, { maxRetries: 0 }));
    await journal.close();
    const renewed = bench.connect({ token: bench.account.token('api') });
    const again = await bench.open(renewed);
    await again.create(renewed.audiences, 'east', NORTH);
    expect(bench.sandbox.log.filter(({ replayed }) => replayed)).toHaveLength(1);
  });

  it('does not repeat what another token has sent, until a person says what has become of it', async () => {
    const { bench, other } = await startTwo();
    await loseResponse(bench);
    const journal = await bench.open(other);
    const error = await failureOf(journal.create(other.audiences, 'north', NORTH));
    expect(error).toMatchObject({ code: 'account-changed', key: 'north', outcome: 'unknown' });
    expect(String(error)).toContain('`journal.resolve("north", id)`, or `aud run` with `--resolve north=<id>`.');
    expect(bench.sent()).toBe(1);
    await journal.resolve('north', 12);
    expect(await journal.create(other.audiences, 'north', NORTH)).toBe(12);
  });

  it('is not suspected in a journal of version 0.3, which names no account', async () => {
    const { bench } = await startTwo();
    const header = { journal: 1, id: 'x', service: bench.url };
    const lines = [header, { key: 'north', sent: 'journal-x', at: new Date() }, { key: 'north', id: 4 }];
    await writeFile(bench.path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const journal = await bench.open();
    expect(journal.get('north')).toMatchObject({ id: 4 });
    await journal.create(bench.client.audiences, 'south', NORTH);
    expect(journal.get('south')).toMatchObject({ kind: 'audiences', by: expect.any(String) });
  });
});

describe('a key of a journal', () => {
  it('stands for one kind of resource', async () => {
    const { bench, journal } = await openNew();
    const body = { name: 'North' };
    await journal.create(bench.client.projects, 'north', body);
    const error = await failureOf(journal.create(bench.client.audiences, 'north', body));
    expect(error).toMatchObject({ code: 'body-changed', key: 'north' });
    expect(String(error)).toContain('was created with `client.projects`, not `client.audiences`.');
    expect(bench.sent()).toBe(1);
  });

  it('is not used by a namespace without `create`', async () => {
    const { bench, journal } = await openNew();
    const error = await failureOf(journal.create(bench.client.usage as never, 'north', NORTH as never));
    expect(error).toMatchObject({ name: 'ConfigurationError', message: expect.stringContaining('`client.audiences`') });
    expect(journal.get('north')).toBeUndefined();
  });

  it('is resolved once: another id needs `forget`', async () => {
    const { bench, journal } = await openNew();
    await journal.resolve('north', 12);
    await journal.resolve('north', 12);
    const error = await failureOf(journal.resolve('north', 13));
    expect(error).toMatchObject({ message: expect.stringContaining('"north" already has the id 12, not 13') });
    await journal.forget('north');
    await journal.resolve('north', 13);
    expect(await failureOf(journal.resolve('north', 1.5))).toMatchObject({ name: 'ConfigurationError' });
    expect(await readJournal(bench.path)).toEqual(new Map([['north', { id: 13, forgotten: 1 }]]));
  });
});

describe('a copied journal', () => {
  it('knows what exists, and two that are used at the same time create a further row once', async () => {
    const bench = await startJournalBench();
    const { audiences } = bench.client;
    const journal = await bench.open();
    const id = await journal.create(audiences, 'north', NORTH);
    const path = `${bench.path}.copy`;
    await copyFile(bench.path, path);
    await using copy = await openJournal(path, bench.client);
    expect(await copy.create(audiences, 'north', NORTH)).toBe(id);
    const south = { name: 'South', dataset: [] };
    const ids = await Promise.all([journal, copy].map((each) => each.create(audiences, 'south', south)));
    expect(new Set(ids).size).toBe(1);
    expect(await bench.names()).toEqual(['North', 'South']);
  });
});

describe('a refusal', () => {
  it('a refusal voids the create that the same call sent, so that another body may follow', async () => {
    const { bench, journal } = await openNew();
    const { audiences } = bench.client;
    bench.sandbox.faults.add({ on: 'audiences.create', status: 422, times: 1 });
    expect(await failureOf(journal.create(audiences, 'north', NORTH))).toMatchObject({ code: 'validation-failed' });
    const [, { sent } = {}, { refused } = {}] = await bench.lines();
    expect(refused).toBe(sent);
    await journal.create(audiences, 'north', { name: 'Corrected', dataset: [] });
    expect(await bench.names()).toEqual(['Corrected']);
  });

  it('a refused repetition keeps the entry of the first create request', async () => {
    const bench = await startJournalBench();
    // Each has another token of the account.
    const connect = (): AudienceClient =>
      bench.connect({ token: apiToken(credentials, { store: memoryTokenStore() }), maxRetries: 0 });
    await loseResponse(bench, connect());
    for (const status of [422, 429, 401, 404]) {
      bench.sandbox.faults.add({ on: 'audiences.create', status, times: 2, retryAfter: 7_200 });
      // A 429 pauses the creates of its client.
      const client = connect();
      const journal = await bench.open(client);
      const error = await failureOf(journal.create(client.audiences, 'north', NORTH));
      expect(error).toMatchObject({ outcome: 'unknown', status });
      expect(String(error)).toContain('Create the resource again with this journal, within 23 hours of that time.');
      await journal.close();
      bench.sandbox.faults.clear();
    }
    expect((await bench.lines()).filter(({ refused }) => refused)).toEqual([]);
    const client = connect();
    await (await bench.open(client)).create(client.audiences, 'north', NORTH);
    expect(await bench.names()).toEqual(['North']);
  });

  it('if the service keeps refusing a repetition, the error names the method to settle it', async () => {
    const bench = await startJournalBench();
    await loseResponse(bench);
    bench.sandbox.faults.add({ on: 'audiences.create', status: 422 });
    const journal = await bench.open();
    const { audiences } = bench.client;
    const refused = await failureOf(journal.create(audiences, 'north', NORTH));
    const corrected = { name: 'Corrected', dataset: [] };
    const changed = await failureOf(journal.create(audiences, 'north', corrected));
    bench.sandbox.faults.clear();
    for (const error of [refused, changed])
      expect(String(error)).toMatch(/If the service .*`journal\.forget\("north"\)`/);
    await journal.forget('north');
    await journal.create(audiences, 'north', corrected);
    expect(await bench.names()).toEqual(['Corrected', 'North']);
  });

  it('a refusal after a lost response in the same call keeps the entry', async () => {
    const bench = await startJournalBench();
    bench.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const { sandbox } = bench;
    const client = bench.connect({
      token: bench.account.token('api'),
      onRetry: () => void sandbox.faults.add({ on: 'audiences.create', status: 429, retryAfter: 7_200, times: 1 }),
    });
    const journal = await bench.open(client);
    expect(await failureOf(journal.create(client.audiences, 'north', NORTH))).toMatchObject({ outcome: 'unknown' });
    expect(journal.get('north')).toMatchObject({ sent: expect.any(String) });
  });

  it.each([
    ['in flight', 'A request with this idempotency key is still in progress.'],
    ['of another body', 'The idempotency key was used with a different body.'],
  ])('a 409 %s keeps the create, which is sent again under the same key', async (_, message) => {
    const conflict = { status: 409, message, headers: { 'retry-after': '61' } };
    const created = { data: { id: 5, status: { id: 101, name: 'Building' } } };
    const server = await startServer({ 'POST /api/v2/audiences/create': [conflict, created] });
    const client = clientOf(server, { maxRetryWait: 1_000 });
    const bench = await startJournalBench();
    const journal = await bench.open(client);
    const error = await failureOf(journal.create(client.audiences, 'north', NORTH));
    expect(error).toMatchObject({ code: 'conflict', outcome: 'unknown' });
    expect(String(error)).toContain(
      'create the resource again with this journal, within 23 hours of the first attempt',
    );
    expect(await journal.create(client.audiences, 'north', NORTH)).toBe(5);
    const keys = (await server.seen()).map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
    expect((await bench.lines()).map(Object.keys).slice(1)).toEqual([
      ['key', 'sent', 'at', 'kind', 'by'],
      ['key', 'sent', 'at', 'kind', 'by'],
      ['key', 'id'],
    ]);
  });

  it('a refusal that a suspended process has written late removes no id', async () => {
    const { bench, journal } = await openNew();
    const id = await journal.create(bench.client.audiences, 'north', NORTH);
    await journal.close();
    const [, { sent } = {}] = await bench.lines();
    await appendFile(bench.path, `${JSON.stringify({ key: 'north', refused: sent })}\n`);
    await appendFile(bench.path, `${JSON.stringify({ key: 'north', sent: 'journal-x', at: new Date() })}\n`);
    expect(await (await bench.open()).create(bench.client.audiences, 'north', NORTH)).toBe(id);
    expect(bench.sent()).toBe(1);
  });

  it('an abort before the request was sent voids the entry', async () => {
    const { bench, journal } = await openNew();
    const reason = new Error('stop');
    const signal = AbortSignal.abort(reason);
    expect(await failureOf(journal.create(bench.client.audiences, 'north', NORTH, { signal }))).toBe(reason);
    expect(journal.get('north')).toEqual({ forgotten: 0 });
    expect(bench.sent()).toBe(0);
  });
});

describe('a file that cannot be the journal', () => {
  it.each([
    ['a file of another kind', 'key,name\nnorth,North\n', 'is not a journal of this version'],
    ['a file without an end of line', 'key,name', 'is not a journal of this version'],
    ['a journal of another version', '{"journal":2,"id":"x","service":"x"}\n', 'is not a journal of this version'],
    ['a file that begins with an empty line', '\n{"journal":1}\n', 'is not a journal of this version'],
  ])('is refused, and left as it is: %s', async (_, content, message) => {
    const bench = await startJournalBench();
    await writeFile(bench.path, content);
    const error = await failureOf(bench.open());
    expect(error).toMatchObject({ code: 'journal-invalid', path: bench.path });
    expect(String(error)).toContain(message);
    expect(await readFile(bench.path, 'utf8')).toBe(content);
    // The advice: another file.
    await rm(bench.path);
    await bench.open();
  });

  it.each([
    '{"key":"north","id":"4"}',
    '{"key":"north","id":4.5}',
    '{"key":"north","sent":"journal-x"}',
    '{"key":"north","sent":5,"at":"2026-11-24T02:00:03.287Z"}',
    '{"key":"north","done":true}',
    '{"key":"north","forget":false}',
    '{"key":7,"id":4}',
    '{"key":"north"}',
    '{"key":"no',
    '[]',
  ])('is refused if a line inside is damaged: %s', async (line) => {
    const { bench, journal } = await openNew();
    await journal.create(bench.client.audiences, 'north', NORTH);
    await journal.close();
    const intact = await readFile(bench.path, 'utf8');
    await edit(bench.path, (text) => text.replace('\n', `\n${line}\n`));
    const error = await failureOf(bench.open());
    expect(error).toMatchObject({ code: 'journal-invalid' });
    expect(String(error)).toContain(
      `Line 2 of ${bench.path} is damaged. Nothing was sent. Correct or remove the line.`,
    );
    await writeFile(bench.path, intact);
    await (await bench.open()).create(bench.client.audiences, 'north', NORTH);
    expect(bench.sent()).toBe(1);
  });

  it('is refused if it was written for another service', async () => {
    const bench = await startJournalBench();
    await (await bench.open()).close();
    const other = clientOf({ url: 'https://staging.example.com' });
    const error = await failureOf(bench.open(other));
    expect(error).toMatchObject({ code: 'journal-invalid' });
    expect(String(error)).toContain(
      `was written for ${bench.url}, not https://staging.example.com. Use a separate file for each service.`,
    );
    expect(other.baseUrl).toBe('https://staging.example.com');
    expect(bench.client.baseUrl).toBe(bench.url);
  });

  it('is refused if it is a device, which has no end', async () => {
    const bench = await startJournalBench();
    const error = await failureOf(openJournal('/dev/zero', bench.client));
    expect(error).toMatchObject({ code: 'journal-invalid', path: '/dev/zero' });
    expect(String(error)).toContain('/dev/zero is not a regular file');
    expect(await failureOf(readJournal('/dev/zero'))).toMatchObject({ code: 'journal-invalid' });
    expect(await failureOf(readJournal(bench.path))).toMatchObject({ code: 'file-unreadable' });
  });

  it('is refused if it is a pipe, whose opening would wait for a writer', async () => {
    const bench = await startJournalBench();
    execFileSync('mkfifo', [bench.path]);
    const refused = { code: 'journal-invalid', message: expect.stringContaining('is not a regular file') };
    expect(await failureOf(openJournal(bench.path, bench.client))).toMatchObject(refused);
    expect(await failureOf(readJournal(bench.path))).toMatchObject(refused);
  });

  it.each([undefined, {}, null])('is refused without a client: %s', async (client) => {
    const error = await failureOf(openJournal('x.journal', client as never));
    expect(error).toMatchObject({ name: 'ConfigurationError' });
    expect(String(error)).toContain('must be an `AudienceClient`: `openJournal(path, client)`.');
  });

  it('is a FileError if it cannot be read or written', async () => {
    const bench = await startJournalBench();
    expect(await failureOf(openJournal(dirname(bench.path), bench.client))).toMatchObject({ code: 'file-unwritable' });
    expect(await failureOf(openJournal('/proc/none/x', bench.client))).toMatchObject({ name: 'FileError' });
  });
});

describe('a journal that can no longer be written', () => {
  it.each([
    ['before a create is sent', 0, 0],
    ['when its response has arrived', 1, 1],
  ])('(a full disk, %s) creates nothing more, and what was sent is replayed later', async (_, after, sent) => {
    const { bench, journal } = await openNew();
    const release = await fillDisk(after);
    const { audiences } = bench.client;
    expect(await failureOf(journal.create(audiences, 'north', NORTH))).toMatchObject({ code: 'disk-full' });
    release();
    expect(await failureOf(journal.create(audiences, 'south', NORTH))).toMatchObject({ code: 'disk-full' });
    expect(bench.sent()).toBe(sent);
    await journal.close();
    const again = await bench.open();
    await again.create(audiences, 'north', NORTH);
    expect(await bench.names()).toEqual(['North']);
  });

  it.each([
    [
      'replaced, as an editor does',
      (path: string) => writeFile(`${path}.new`, '').then(() => rename(`${path}.new`, path)),
    ],
    ['moved', (path: string) => rename(path, `${path}.old`)],
    ['removed', (path: string) => rm(path)],
    ['shortened', (path: string) => edit(path, (text) => text.slice(0, 80))],
  ])('creates nothing more when its file was %s, and says so', async (_, change) => {
    const bench = await startJournalBench();
    await loseResponse(bench);
    const journal = await bench.open();
    const { audiences } = bench.client;
    await change(bench.path);
    for (const key of ['north', 'south']) {
      const error = await failureOf(journal.create(audiences, key, NORTH));
      expect(error).toMatchObject({ code: 'journal-locked', path: bench.path });
      expect(String(error)).toContain('was edited, replaced, moved or removed while it was open');
    }
    expect(bench.sent()).toBe(1);
  });

  it('ends when its lock was removed, and two processes without a lock create nothing twice', () =>
    quickly(async () => {
      const bench = await startJournalBench();
      const first = await bench.open();
      const link = join(dirname(bench.path), 'link.journal');
      await symlink(bench.path, link);
      await rm(`${bench.path}.lock`, { recursive: true });
      await using second = await openJournal(link, bench.client);
      const { audiences } = bench.client;
      bench.sandbox.faults.add({ on: 'audiences.create', delay: 300 });
      const create = (journal: Journal): Promise<number> => journal.create(audiences, 'north', NORTH);
      const ids = await Promise.all([first, second].map(create));
      expect(ids[0]).toBe(ids[1]);
      // A journal looks after its lock every two seconds.
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const error = await failureOf(first.create(audiences, 'south', NORTH, { signal: AbortSignal.abort() }));
      expect(error).toMatchObject({ code: 'journal-locked', path: bench.path });
      expect(String(error)).toContain('This process sends no more create requests. Run the program again.');
      expect(await bench.names()).toEqual(['North']);
    }));
});
