import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type BatchOptions, runBatch } from '../../../src/cli/batch/batch.ts';
import type { RowView } from '../../../src/cli/batch/batch-row.ts';
import { AudienceClient } from '../../../src/index.ts';
import { type Journal, openJournal } from '../../../src/node/index.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { fillDisk, parseLines } from '../../support/journal.ts';
import { credentials } from '../../support/sandbox.ts';
import { startVirtualTime, type VirtualTime } from '../../support/virtual-time.ts';
import { runs } from '../../support/volume.ts';

const URL = 'https://api.example.com';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let time: VirtualTime | undefined;
afterEach(() => {
  time?.end();
  time = undefined;
});

/** Time stands still while files are read and written. */
const isWriting = (): boolean => process.getActiveResourcesInfo().some((name) => /^(?:FSReq|Close)/.test(name));

type Change = Partial<BatchOptions> & { readonly stopAfter?: number; readonly token?: string };

/** A sandbox in process and in virtual time, and a journal. */
async function startBatches(options: SandboxOptions = {}) {
  const folder = await temporaryDirectory();
  const path = join(folder, 'rows.journal');
  time = startVirtualTime(isWriting, { realIntervals: true });
  const clock = time;
  const sandbox: Sandbox = createSandbox({ clock: 'real', ...options, jobs: { duration: MINUTE, ...options.jobs } });
  const account = sandbox.accounts.create(credentials);
  const attempts: string[] = [];
  let areFilesHidden = false;
  let broken: { readonly text: string; readonly respond: () => Response | Promise<Response> } | undefined;
  const answer: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const body = await request.clone().text();
    if (!broken || !body.includes(broken.text)) {
      const response = await sandbox.fetch(request);
      if (!areFilesHidden || !request.url.includes('/activations/')) return response;
      return new Response((await response.text()).replaceAll(/"datastreams":\[.*?\]/g, '"datastreams":[]'), response);
    }
    attempts.push(body);
    return broken.respond();
  };
  const connect = (token: string): AudienceClient =>
    new AudienceClient({ baseUrl: URL, token, fetch: answer, logLevel: 'off' });
  const ownToken = account.token('api');
  const limits: string[] = [];
  async function attempt(
    rows: readonly Row[],
    { stopAfter, token, ...change }: Change = {},
  ): Promise<readonly RowView[]> {
    const client = connect(token ?? ownToken);
    const journal: Journal = await openJournal(path, client);
    const stop = new AbortController();
    if (stopAfter !== undefined) setTimeout(() => stop.abort(new Error('killed')), stopAfter);
    try {
      return await runBatch(rows, {
        client,
        journal,
        signal: stop.signal,
        timeout: 4 * HOUR,
        budgetWait: Number.POSITIVE_INFINITY,
        outageWait: 20 * MINUTE,
        onChange() {},
        onLimit: ({ code }) => limits.push(code),
        onOutage: () => limits.push('outage'),
        ...change,
      });
    } finally {
      await journal.close();
      await client.close();
    }
  }
  const list = (kind: 'audiences' | 'activations'): Promise<readonly object[]> =>
    clock.until<readonly object[]>(connect(ownToken)[kind].list().toArray({ limit: 10_000 }));
  return {
    path,
    folder,
    sandbox,
    account,
    limits,
    attempts,
    /** Lets activations have no datastreams. */
    hideFiles() {
      areFilesHidden = true;
    },
    /** Responds to creates whose body contains a text, which do not reach the service. */
    breakRow(text: string, respond: () => Response | Promise<Response>) {
      broken = { text, respond };
    },
    pass: (ms: number) => clock.pass(ms),
    run: (rows: readonly Row[], change?: Change) => clock.until(attempt(rows, change)),
    lines: async () => parseLines(await readFile(path, 'utf8')),
    creates: (kind = 'audiences') => sandbox.log.filter(({ path: to }) => to === `/api/v2/${kind}/create`),
    all: (kind: 'audiences' | 'activations') => list(kind),
    names: async () => (await list('audiences')).map((audience) => String(Object(audience).name)).sort(),
  };
}

interface Row {
  readonly key: string;
  readonly body: { readonly name: string };
  readonly file?: string;
}

const rowsOf = (...names: readonly string[]): Row[] => names.map((name) => ({ key: name, body: { name } }));
const namesOf = (length: number): string[] => Array.from({ length }, (_, at) => `row-${at}`);
const statesOf = (views: readonly RowView[]): Record<string, string> =>
  Object.fromEntries(views.map(({ key, state }) => [key, state]));
const allDone = (keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [key, 'done']));
const codeOf = (view: RowView | undefined): unknown => Object(view?.error).code;

describe('a batch', () => {
  it.each([
    ['builds', undefined, 28],
    ['builds and activates', {}, 74],
  ])(
    '%s each of many rows once within the budget of an hour and of a day, also when it is stopped three times',
    async (_, activate, maxHours) => {
      // The service allows 60 an hour and 300 a day.
      const limits = { buildsPerHour: runs(2, 60), buildsPerDay: runs(10, 300), logLength: 100_000 };
      const { run, sandbox, creates, names, all } = await startBatches({
        limits,
        jobs: { duration: runs(1, 10) * MINUTE },
      });
      const rows = rowsOf(...namesOf(runs(17, 500)));
      const since = Date.now();
      for (const stopAfter of [2 * HOUR, 9 * HOUR, 14 * HOUR]) {
        const states = new Set(Object.values(statesOf(await run(rows, { stopAfter, activate }))));
        expect(states).toEqual(new Set(['done', 'unfinished']));
      }
      const views = await run(rows, { activate });
      expect(new Set(Object.values(statesOf(views)))).toEqual(new Set(['done']));
      const hours = (Date.now() - since) / HOUR;
      const refused = creates().filter(({ status }) => status === 429).length;
      console.info(
        `${rows.length} rows: ${hours.toFixed(1)} h, ${sandbox.log.length} requests, ${refused} refused creates`,
      );
      expect(hours).toBeLessThan(maxHours);
      expect(await all('activations')).toHaveLength(activate ? rows.length : 0);
      expect(refused).toBeLessThan(150);
      expect(await names()).toEqual(rows.map(({ body }) => body.name).sort());
    },
  );

  it('reads nothing again and sends nothing when each row is done, built, activated or saved', async () => {
    const { run, sandbox, folder } = await startBatches({ jobs: { duration: MINUTE } });

    const options = { activate: {}, download: folder };
    for (const goal of [{}, { activate: {} }]) {
      await run(rowsOf('north', 'south'), goal);
      const { length } = sandbox.log;
      expect(statesOf(await run(rowsOf('north', 'south'), goal))).toEqual({ north: 'done', south: 'done' });
      expect(sandbox.log.length).toBe(length);
    }
    const views = await run(rowsOf('north', 'south'), options);
    expect(views).toMatchObject([
      { state: 'done', files: [expect.stringContaining(join(folder, 'north'))] },
      { state: 'done', files: [expect.stringContaining(join(folder, 'south'))] },
    ]);
    const { length } = sandbox.log;
    await rm(join(folder, 'north'), { recursive: true });
    expect(statesOf(await run(rowsOf('south', 'north'), options))).toEqual({ north: 'done', south: 'done' });
    expect(sandbox.log.length).toBe(length);
    const changed = await run(rowsOf('north'), { ...options, activate: { identifier: 'EID' } });
    expect([statesOf(changed), codeOf(changed[0])]).toEqual([{ north: 'refused' }, 'body-changed']);
  });

  it('creates added rows, leaves removed ones alone, and refuses a changed one', async () => {
    const { run, names } = await startBatches();
    await run(rowsOf('north', 'south'));
    const views = await run([...rowsOf('east'), { key: 'south', body: { name: 'Changed' } }]);
    expect(statesOf(views)).toEqual({ east: 'done', south: 'refused' });
    expect(codeOf(views[1])).toBe('body-changed');
    expect(await names()).toEqual(['east', 'north', 'south']);
  });

  it('sends a row again that the service has refused, also corrected', async () => {
    const { run, sandbox, names } = await startBatches();
    sandbox.faults.add({ on: 'audiences.create', status: 422, times: 1 });
    expect(statesOf(await run(rowsOf('north', 'south')))).toEqual({ north: 'refused', south: 'done' });
    const corrected = [{ key: 'north', body: { name: 'Corrected' } }, ...rowsOf('south')];
    expect(statesOf(await run(corrected))).toEqual({ north: 'done', south: 'done' });
    expect(await names()).toEqual(['Corrected', 'south']);
  });

  it('reports a failed job again without a create, and creates it once more with `retryFailed`, also corrected', async () => {
    let outcome = 107;
    const { run, creates } = await startBatches({ jobs: { outcome: () => outcome } });
    expect(statesOf(await run(rowsOf('north')))).toEqual({ north: 'failed' });
    expect(codeOf((await run(rowsOf('north')))[0])).toBe('job-needs-info');
    expect(creates()).toHaveLength(1);
    expect(statesOf(await run(rowsOf('north'), { retryFailed: true }))).toEqual({ north: 'failed' });
    expect(creates()).toHaveLength(2);
    outcome = 104;
    const corrected = [{ key: 'north', body: { name: 'Corrected' } }];
    expect(codeOf((await run(corrected))[0])).toBe('body-changed');
    expect(statesOf(await run(corrected, { retryFailed: true }))).toEqual({ north: 'done' });
    expect(codeOf((await run(rowsOf('north'), { retryFailed: true }))[0])).toBe('body-changed');
    expect(creates()).toHaveLength(3);
  });

  it('creates only the activation again if only that has failed', async () => {
    let outcome = 450;
    const { run, creates } = await startBatches({
      jobs: { duration: MINUTE, outcome: ({ kind }) => (kind === 'activation' ? outcome : 104) },
    });
    const options = { activate: { description: 'x' } };
    expect(codeOf((await run(rowsOf('north'), options))[0])).toBe('job-failed');
    outcome = 104;
    expect(statesOf(await run(rowsOf('north'), { ...options, retryFailed: true }))).toEqual({ north: 'done' });
    expect([creates().length, creates('activations').length]).toEqual([1, 2]);
  });

  it('reports a deleted audience as failed, and builds it again with `retryFailed`', async () => {
    const { run, account, sandbox, creates } = await startBatches();
    const [view] = await run(rowsOf('north'), { stopAfter: MINUTE / 2 });
    const headers = { authorization: `Bearer ${account.token('api')}`, accept: 'application/json' };
    const path = `https://api.example.com/api/v2/audiences/${view?.audience}/delete`;
    expect((await sandbox.fetch(path, { method: 'POST', headers })).status).toBe(200);
    const again = await run(rowsOf('north'));
    expect([again[0]?.state, codeOf(again[0])]).toEqual(['failed', 'not-found']);
    expect(statesOf(await run(rowsOf('north'), { retryFailed: true }))).toEqual({ north: 'done' });
    expect(creates()).toHaveLength(2);
  });

  it('forgets an activation before its audience, so that a process that ends in between loses nothing', async () => {
    const { run, account, sandbox, lines, creates } = await startBatches();
    const [view] = await run(rowsOf('north'), { activate: {}, stopAfter: 1.5 * MINUTE });
    expect(view).toMatchObject({ state: 'unfinished', activation: expect.any(Number) });
    const headers = { authorization: `Bearer ${account.token('api')}`, accept: 'application/json' };
    const path = `https://api.example.com/api/v2/audiences/${view?.audience}/delete`;
    expect((await sandbox.fetch(path, { method: 'POST', headers })).status).toBe(200);
    expect(statesOf(await run(rowsOf('north'), { activate: {}, retryFailed: true }))).toEqual({ north: 'done' });
    const forgotten = (await lines()).filter((line) => Object(line).forget === true);
    expect(forgotten.map((line) => Object(line).key)).toEqual(['north activation', 'north']);
    expect(creates('activations')).toHaveLength(2);
  });

  it('sends one request with a wrong token, and nothing was created', async () => {
    const { run, sandbox, lines } = await startBatches();
    const views = await run(rowsOf('north', 'south', 'east'), { token: 'wrong' });
    expect(statesOf(views)).toEqual({ north: 'unfinished', south: 'unfinished', east: 'unfinished' });
    expect(views.map(codeOf)).toEqual(['authentication-failed', undefined, undefined]);
    expect(sandbox.log).toHaveLength(1);
    expect((await lines()).map(Object.keys).slice(1)).toEqual([
      ['key', 'sent', 'at', 'kind', 'by'],
      ['key', 'refused'],
    ]);
    await run(rowsOf('north', 'south', 'east'));
    const { length } = sandbox.log;
    const refused = run(rowsOf('north', 'south', 'east'), { token: 'wrong' });
    await expect(refused).rejects.toMatchObject({ code: 'authentication-failed' });
    expect(sandbox.log.length - length).toBeLessThan(3);
  });

  it('builds what the budget allows, and begins no more, with a budget wait of 0', async () => {
    const { run, names, limits, pass } = await startBatches({ limits: { buildsPerHour: 2 } });
    const rows = rowsOf('a', 'b', 'c', 'd');
    const views = await run(rows, { budgetWait: 0 });
    expect(statesOf(views)).toEqual({ a: 'done', b: 'done', c: 'unfinished', d: 'unfinished' });
    expect(views.map(codeOf)).toEqual([undefined, undefined, 'build-budget-exhausted', undefined]);
    expect(limits).toEqual([]);
    await pass(HOUR);
    expect(statesOf(await run(rows, { budgetWait: 0 }))).toEqual({ a: 'done', b: 'done', c: 'done', d: 'done' });
    expect(await names()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('waits no longer than the budget wait', async () => {
    const { run, limits } = await startBatches({ limits: { buildsPerHour: 1 } });
    const rows = rowsOf('a', 'b');
    expect(statesOf(await run(rows, { budgetWait: 30 * MINUTE }))).toEqual({ a: 'done', b: 'unfinished' });
    expect(limits).toEqual([]);
    expect(statesOf(await run(rows, { budgetWait: HOUR }))).toEqual({ a: 'done', b: 'done' });
    expect(limits.length).toBeGreaterThan(0);
  });

  it('leaves a create unknown that is in flight for more than a minute, goes on, and finds it in the next run', async () => {
    const { run, sandbox, names, lines } = await startBatches();
    const held = sandbox.faults.add({ on: 'audiences.create', inFlight: 10 * MINUTE, times: 1 });
    const stopped = await run(rowsOf('north', 'east'), { stopAfter: 1_000 });
    expect(statesOf(stopped)).toEqual({ north: 'unknown', east: 'unfinished' });
    expect(stopped[0]?.reason).toContain('within 23 hours');
    const views = await run(rowsOf('south', 'north'));
    expect(statesOf(views)).toEqual({ north: 'unknown', south: 'done' });
    expect(codeOf(views[1])).toBe('conflict');
    expect((await lines()).filter(({ refused }) => refused)).toEqual([]);
    held();
    expect(statesOf(await run(rowsOf('south', 'north')))).toEqual({ north: 'done', south: 'done' });
    expect(await names()).toEqual(['north', 'south']);
  });

  it('restarted after 25 hours, names a lost create unknown, and builds it once a person has said so', async () => {
    const { run, sandbox, pass, path, names, creates } = await startBatches();
    await run(rowsOf('east'));
    sandbox.faults.add({ on: 'audiences.create', delay: 10 * MINUTE, times: 1 });
    await run(rowsOf('north', 'east'), { stopAfter: 1_000 });
    await pass(25 * HOUR);
    const views = await run(rowsOf('north', 'south', 'east'));
    expect(statesOf(views)).toEqual({ north: 'unknown', south: 'done', east: 'done' });
    expect(codeOf(views[0])).toBe('outcome-expired');
    expect(creates()).toHaveLength(3);
    await appendFile(path, '{"key":"north","forget":true}\n');
    expect(statesOf(await run(rowsOf('north', 'south', 'east')))).toEqual({
      north: 'done',
      south: 'done',
      east: 'done',
    });
    expect((await names()).filter((name) => name !== 'north')).toEqual(['east', 'south']);
  });

  it('restarted with a journal that is cut at any byte, has everything once', async () => {
    const { run, path, folder, names, all } = await startBatches();
    const options = { activate: {}, download: folder };
    await run(rowsOf('north'), options);
    const content = await readFile(path);
    for (let size = content.indexOf('\n') + 1; size < content.length; size += runs(29, 1)) {
      await writeFile(path, content.subarray(0, size));
      expect(statesOf(await run(rowsOf('north'), options))).toEqual({ north: 'done' });
      expect(await readFile(path, 'utf8')).toMatch(/"done":\{[^\n]*\n$/);
    }
    expect([await names(), (await all('activations')).length]).toEqual([['north'], 1]);
  });

  describe.each([
    ['500', () => new Response('{}', { status: 500 }), 'unknown'],
    ['403', () => Response.json({ status: 'error', code: 403, message: 'No.' }, { status: 403 }), 'unfinished'],
    ['a cut connection', () => Promise.reject(new TypeError('fetch failed')), 'unknown'],
  ] as const)('with one row that always gets %s', (_, fail, state) => {
    it.each(['first', 'last'])('if the %s row fails, the other rows are done', async (where) => {
      const { run, breakRow, names, attempts } = await startBatches({ limits: { buildsPerHour: 1_000 } });
      const others = namesOf(runs(4, 49));
      const keys = others.toSpliced(where === 'first' ? 0 : others.length, 0, 'poison');
      breakRow('poison', fail);
      for (const _run of [1, 2, 3]) {
        const before = attempts.length;
        const states = statesOf(await run(rowsOf(...keys)));
        expect(states).toEqual({ ...allDone(others), poison: state });
        // The client repeats a request four times.
        expect(attempts.length - before).toBeLessThanOrEqual(5);
      }
      expect(await names()).toEqual(others.sort());
    });

    it.each(['first', 'last'])('if the activation of the %s row fails, the other rows are done', async (where) => {
      const { run, breakRow, all, attempts } = await startBatches({ limits: { buildsPerHour: 1_000 } });
      const others = namesOf(runs(4, 49));
      const keys = others.toSpliced(where === 'first' ? 0 : others.length, 0, 'poison');
      const onChange = ({ key, audience }: RowView): void => {
        if (key === 'poison' && audience !== undefined) breakRow(`"audience_id":${audience}}`, fail);
      };
      for (const _run of [1, 2, 3]) {
        const before = attempts.length;
        const states = statesOf(await run(rowsOf(...keys), { activate: {}, onChange }));
        expect(states).toEqual({ ...allDone(others), poison: state });
        expect(attempts.length - before).toBeLessThanOrEqual(5);
      }
      expect(await all('activations')).toHaveLength(others.length);
    });
  });

  it('waits for the end of an outage, and then sends once more what failed in it', async () => {
    const { run, sandbox, names, limits, creates } = await startBatches();
    setTimeout(sandbox.faults.add({ status: 503 }), 19 * MINUTE);
    const rows = rowsOf('a', 'b', 'c', 'd', 'e');
    expect(new Set(Object.values(statesOf(await run(rows))))).toEqual(new Set(['done']));
    expect(limits).toEqual(['outage']);
    expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e']);
    // Three rows with four retries; the others are sent after the outage.
    expect(creates().filter(({ status }) => status === 503)).toHaveLength(15);
  });

  it('also waits for the end of an outage if fewer than three creates are left and a read fails', async () => {
    const { run, sandbox, limits, creates, breakRow, attempts } = await startBatches();
    setTimeout(sandbox.faults.add({ status: 503 }), 19 * MINUTE);
    expect(statesOf(await run(rowsOf('a', 'b')))).toEqual(allDone(['a', 'b']));
    expect(limits).toEqual(['outage']);
    expect(creates().filter(({ status }) => status === 503)).toHaveLength(10);
    breakRow('poison', () => new Response('{}', { status: 503 }));
    const since = Date.now();
    expect(statesOf(await run(rowsOf('poison')))).toEqual({ poison: 'unknown' });
    expect([limits, attempts.length]).toEqual([['outage'], 5]);
    expect(Date.now() - since).toBeLessThan(2 * MINUTE);
  });

  it('ends only the row whose file is empty or missing', async () => {
    const { run, folder } = await startBatches();
    await writeFile(join(folder, 'empty'), '');
    const bad = ['empty', 'missing'].map((key) => ({ key, body: { name: key }, file: join(folder, key) }));
    const states = statesOf(await run([...bad, ...rowsOf('a')]));
    expect(states).toEqual({ empty: 'refused', missing: 'refused', a: 'done' });
  });

  it('begins no more creates when an outage lasts longer than the outage wait, and finishes what exists', async () => {
    const { run, sandbox } = await startBatches({ jobs: { duration: 8 * MINUTE } });
    const rows = rowsOf('a', 'b', 'c', 'd', 'e');
    await run(rows.slice(0, 1), { stopAfter: MINUTE });
    setTimeout(sandbox.faults.add({ status: 503 }), 6 * MINUTE);
    const states = statesOf(await run(rows, { outageWait: 2 * MINUTE }));
    expect(states).toEqual({ a: 'done', b: 'unknown', c: 'unknown', d: 'unknown', e: 'unfinished' });
    expect(new Set(Object.values(statesOf(await run(rows))))).toEqual(new Set(['done']));
  });

  it('probes a service that refuses creates only with a create, until the outage wait is over', async () => {
    const { run, breakRow, attempts } = await startBatches();
    breakRow('"name"', () => new Response('{}', { status: 503 }));
    const views = await run(rowsOf(...namesOf(40)), { outageWait: HOUR });
    const states = Object.values(statesOf(views));
    expect(states.filter((state) => state === 'unfinished').length).toBeGreaterThan(20);
    expect(attempts.length).toBeLessThan(100);
  });

  it('many rows with activations are complete after two runs with 35 % of faults', async () => {
    const { run, sandbox, names, all } = await startBatches({ seed: 7, limits: { buildsPerHour: 1_000 } });
    sandbox.faults.add({ cut: 'after', rate: 0.15 });
    sandbox.faults.add({ status: 503, rate: 0.1 });
    sandbox.faults.add({ malformed: true, rate: 0.1 });
    const rows = rowsOf(...namesOf(runs(20, 60)));
    await run(rows, { activate: {} });
    const views = await run(rows, { activate: {} });
    sandbox.faults.clear();
    expect(new Set(Object.values(statesOf(views)))).toEqual(new Set(['done']));
    expect(await names()).toEqual(rows.map(({ body }) => body.name).sort());
    const activations = await all('activations');
    expect(activations).toHaveLength(rows.length);
  });

  it('does not activate what is blocked, and asks again in the next run', async () => {
    const { run, creates } = await startBatches({ jobs: { devices: 10 } });
    const options = { activate: {} };
    const views = await run(rowsOf('north'), options);
    expect(views).toMatchObject([{ state: 'blocked', reason: expect.stringContaining('unique devices') }]);
    expect(statesOf(await run(rowsOf('north'), options))).toEqual({ north: 'blocked' });
    expect(creates('activations')).toEqual([]);
  });

  it('does not activate what is blocked although an earlier activation was forgotten', async () => {
    const { run, creates, path } = await startBatches({ jobs: { devices: 10 } });
    await run(rowsOf('north'), { activate: {} });
    await appendFile(path, '{"key":"north activation","forget":true}\n');
    expect(statesOf(await run(rowsOf('north'), { activate: {} }))).toEqual({ north: 'blocked' });
    expect(creates('activations')).toEqual([]);
  });

  it('creates activations before new audiences also after a restart, the first row first', async () => {
    const { run, sandbox, pass, creates } = await startBatches({ limits: { buildsPerHour: 3 } });
    const rows = rowsOf('a', 'b', 'c', 'd', 'e', 'f');
    await run(rows, { budgetWait: 0 });
    await pass(HOUR);
    const views = await run(rows, { activate: {}, budgetWait: 0 });
    expect(statesOf(views)).toMatchObject({ a: 'done', b: 'done', c: 'done', d: 'unfinished' });
    expect(creates('activations').map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(sandbox.log.length).toBeGreaterThan(0);
  });

  it('counts audiences and activations that still need a create', async () => {
    const left: number[] = [];
    const { run } = await startBatches({ limits: { buildsPerHour: 2 } });
    const onLimit = (_error: unknown, _until: number, count: number): void => void left.push(count);
    await run(rowsOf('a', 'b', 'c'), { activate: {}, onLimit });
    expect(left[0]).toBe(4);
    expect(left.at(-1)).toBeLessThan(4);
  });

  it('creates the activation of a finished audience before the next audiences', async () => {
    const { run, creates } = await startBatches({ jobs: { duration: 0 }, limits: { buildsPerHour: 4 } });
    await run(rowsOf('a', 'b', 'c', 'd'), { activate: {}, budgetWait: 0 });
    expect(creates('activations').length).toBeGreaterThan(0);
  });

  it('voids what was not sent when it is stopped', async () => {
    const { run, lines } = await startBatches({ limits: { buildsPerHour: 1 } });
    await run(rowsOf('a', 'b', 'c'), { stopAfter: 10 * MINUTE });
    const open = new Set((await lines()).flatMap(({ sent }) => (sent ? [sent] : [])));
    const kept = (await lines()).filter(({ refused }) => refused).length;
    expect(open.size).toBe(2);
    expect(kept).toBeGreaterThan(0);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    'on a disk that is full after %i lines, creates no more, and continues when it is not',
    async (after) => {
      const { run, path, folder, names, all } = await startBatches();
      const options = { activate: {}, download: folder };
      await (await openJournal(path, new AudienceClient({ baseUrl: URL, token: 'x' }))).close();
      const release = await fillDisk(after + 1);
      const views = await run(rowsOf('a', 'b'), options);
      const failed = views.filter((view) => codeOf(view) === 'disk-full');
      expect(failed.length).toBeGreaterThan(0);
      for (const { state } of failed) expect(['unfinished', 'unknown']).toContain(state);
      release();
      expect(statesOf(await run(rowsOf('a', 'b'), options))).toEqual({ a: 'done', b: 'done' });
      expect([await names(), (await all('activations')).length]).toEqual([['a', 'b'], 2]);
    },
  );

  it('leaves a row unfinished if its activation has no files, so that the next run reads it again', async () => {
    const { run, folder, hideFiles } = await startBatches();
    const options = { activate: {}, download: folder };
    hideFiles();
    for (const _run of [1, 2])
      expect(await run(rowsOf('a'), options)).toMatchObject([
        { state: 'unfinished', reason: expect.stringContaining('no files') },
      ]);
  });

  it('leaves a row unfinished whose files cannot be saved', async () => {
    const { run, path, folder } = await startBatches();
    await run(rowsOf('a'));
    await writeFile(join(folder, 'taken'), '');
    const views = await run(rowsOf('a'), { activate: {}, download: join(folder, 'taken') });
    expect([views[0]?.state, codeOf(views[0])]).toEqual(['unfinished', 'file-unwritable']);
    expect(path).toContain('rows.journal');
  });
});
