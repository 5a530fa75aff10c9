import { describe, expect, it } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { serve } from '../../support/file-server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const RUNNING = { jobs: { duration: 3_600_000 } };

/** Creates audiences, and returns their ids. */
async function createAudiences({ url, account }: Awaited<ReturnType<typeof startScene>>, count: number) {
  await using client = new AudienceClient({ baseUrl: url, token: account.token('api'), rateLimits: false });
  const ids: number[] = [];
  for (let number = 0; number < count; number++) ids.push((await client.audiences.create({ name: `A${number}` })).id);
  return ids;
}

describe('wait', () => {
  it('waits for jobs of several kinds, of arguments and standard input, each once', async () => {
    const scene = await startScene(RUNNING);
    const { sandbox, start, json } = scene;
    const [one = 0, two = 0] = await createAudiences(scene, 2);
    const [estimate] = await json(['estimates', 'create', '--name', 'e']);
    const id = Number(estimate?.id);
    const args = [String(one), `audience:${one}`, '-'];
    const waiting = start(['wait', ...args], { input: `${two},estimate:${id}\n` });
    await waiting.shows('err', `estimate:${id}: 100 Queued`);
    sandbox.jobs.finish('audience', one, 104);
    sandbox.jobs.finish('audience', two, 104);
    sandbox.jobs.finish('estimate', id, 104);
    const { code, out, err } = await waiting.ended;
    const rows = [`audience\t${one}\tcompleted\t104\tCompleted\tA0`, `audience\t${two}\tcompleted\t104\tCompleted\tA1`];
    expect({ code, rows: out.split('\n').slice(0, 2) }).toEqual({ code: 0, rows });
    expect(out).toMatch(new RegExp(`^estimate\t${id}\tcompleted\t104\tCompleted\t`, 'm'));
    expect(err.match(/104 Completed/g)).toHaveLength(3);
  });

  it('`wait --json` prints a line for each change, the last one with the resource, and errors on standard error', async () => {
    const scene = await startScene(RUNNING);
    const { sandbox, start } = scene;
    const [one = 0, two = 0] = await createAudiences(scene, 2);
    const waiting = start(['wait', String(one), String(two), '--json']);
    await waiting.shows('out', '\n', 2);
    sandbox.jobs.finish('audience', one, 104);
    sandbox.jobs.finish('audience', two, 422);
    const { code, out, err } = await waiting.ended;
    expect(code).toBe(3);
    const target = { kind: 'audience', id: one };
    expect(linesOf(out).filter(({ id }) => id === one)).toMatchObject([
      { ...target, phase: 'running', status: { id: 100 } },
      { ...target, phase: 'completed', status: { id: 104 }, resource: { name: 'A0' } },
    ]);
    expect(linesOf(err)).toMatchObject([{ code: 'job-failed', exitCode: 3, kind: 'audience', id: two }]);
  });

  it('`--any` ends at the first job that completes, `--fail-fast` at the first that does not', async () => {
    const scene = await startScene(RUNNING);
    const { sandbox, start } = scene;
    const [one = 0, two = 0, three = 0] = await createAudiences(scene, 3);
    const ids = [one, two, three].map(String);
    const [any, fast] = [start(['wait', '--any', ...ids]), start(['wait', '--fail-fast', ...ids])];
    for (const command of [any, fast]) await command.shows('err', '100 Queued', 3);
    sandbox.jobs.finish('audience', one, 107);
    const failed = await fast.ended;
    expect(failed.code).toBe(4);
    expect(failed.out).toContain(`audience\t${two}\trunning\t100\tQueued\tA1\n`);
    expect(failed.err).toContain(
      `To continue: audience-activation wait audience:${two} audience:${three} --fail-fast\n`,
    );
    sandbox.jobs.finish('audience', two, 104);
    expect(await any.ended).toMatchObject({ code: 0, out: expect.stringContaining(`audience\t${three}\trunning\t`) });
  });

  it('the command that resumes waits on the same account, in the same way', async () => {
    const scene = await startScene(RUNNING);
    const [id] = await createAudiences(scene, 1);
    const flags = ['--base-url', scene.url, '--token-command', `echo '${scene.env.AUDIENCE_TOKEN}'`, '--any'];
    const { code, err } = await scene.run(['wait', String(id), '--timeout', '300ms', '--json', ...flags]);
    expect(code).toBe(6);
    const [error] = linesOf(err);
    expect(error).toMatchObject({ code: 'wait-timeout', resume: expect.stringContaining(`wait audience:${id} --any`) });
    expect(error?.resume).toContain(`--any --base-url ${scene.url} --token-command 'echo '`);
  });

  it('waits for a hundred jobs with as many reads as a program', async () => {
    const scene = await startScene({
      ...RUNNING,
      limits: { write: { limit: 1_000, interval: 60_000 }, buildsPerHour: 500 },
    });
    const ids = await createAudiences(scene, 100);
    const reads = (): number => scene.sandbox.log.filter(({ path }) => path === '/api/v2/audiences/index').length;
    const measure = async (wait: () => PromiseLike<unknown>): Promise<number> => {
      const before = reads();
      await scene.time.until(wait());
      return reads() - before;
    };
    const byCommand = await measure(() => scene.run(['wait', '--timeout', '4s', ...ids.map(String)]));
    const byProgram = await measure(async () => {
      await using client = new AudienceClient({ baseUrl: scene.url, token: scene.account.token('api') });
      await Promise.allSettled(ids.map((id) => client.audiences.wait(id, { timeout: 4_000 })));
    });
    expect(byCommand).toBeGreaterThan(0);
    // Both poll in the same rhythm, and reads of a page for each job would be a hundred more.
    expect(Math.abs(byCommand - byProgram)).toBeLessThanOrEqual(10);
    const others = scene.sandbox.log.filter(
      ({ method, path }) => method === 'GET' && path !== '/api/v2/audiences/index',
    );
    expect(others.length).toBeLessThanOrEqual(2 * 2);
  });

  it('`wait` prints a line for each of many jobs that time out, and once the command that resumes', async () => {
    const limits = { write: { limit: 1_000, interval: 60_000 } };
    const scene = await startScene({ ...RUNNING, limits: { ...limits, buildsPerHour: 500 } });
    const ids = await createAudiences(scene, 60);
    const resume = `audience-activation wait ${ids.map((id) => `audience:${id}`).join(' ')}`;
    const [plain, json] = await Promise.all([
      scene.run(['wait', '--timeout', '4s', ...ids.map(String)]),
      scene.run(['wait', '--timeout', '4s', ...ids.map(String), '--json']),
    ]);
    const lines = plain.err.trimEnd().split('\n');
    expect({
      code: plain.code,
      timeouts: lines.filter((line) => line.includes(': timed out at 100 Queued')).length,
    }).toEqual({ code: 6, timeouts: 60 });
    expect(lines.slice(-2)).toEqual([
      'error: The command stopped waiting for 60 of 60 jobs (--timeout). The jobs keep running.',
      `  To continue: ${resume}`,
    ]);
    const errors = linesOf(json.err);
    expect(errors.map(({ id }) => id)).toEqual(ids);
    expect(errors.filter((error) => error.resume !== undefined)).toEqual([
      expect.objectContaining({ id: ids.at(-1), resume }),
    ]);
  });

  it('says of a job only what has been read', async () => {
    const { run } = await startScene();
    const silent = await serve((request) => void request.resume());
    const env = { AUDIENCE_BASE_URL: silent.url };
    const one = await run(['wait', '12', '--timeout', '300ms'], { env });
    expect(one).toMatchObject({
      code: 6,
      err: expect.stringContaining('audience:12: timed out before its status was read\n'),
    });
    expect(one.err).toContain('error: The status of audience 12 was not read within --timeout.\n');
    const two = await run(['wait', '12', '13', '--timeout', '300ms'], { env });
    expect(two.err).toContain(
      'error: The command stopped waiting for 2 of 2 jobs (--timeout). The status of 2 jobs was not read.\n',
    );
    expect(one.err + two.err).not.toContain('keep');
  });

  it('`--timeout 0` reads each job once', async () => {
    const scene = await startScene(RUNNING);
    const { sandbox, run } = scene;
    const [done = 0, running = 0] = await createAudiences(scene, 2);
    sandbox.jobs.finish('audience', done, 104);
    const reads = (): number => sandbox.log.filter(({ method }) => method === 'GET').length;
    expect(await run(['wait', String(done), '--timeout', '0'])).toMatchObject({ code: 0 });
    expect(reads()).toBe(1);
    expect(await run(['wait', String(running), '--timeout', '0'])).toMatchObject({
      code: 6,
      err: `audience:${running}: timed out at 100 Queued\nerror: The job of audience ${running} has not ended within --timeout (100 Queued). The job keeps running.\n  To continue: audience-activation wait audience:${running}\n`,
    });
    expect(reads()).toBe(2);
    const both = await run(['wait', String(done), String(running), '--timeout', '0', '--json']);
    expect({
      code: both.code,
      phases: linesOf(both.out)
        .map(({ id, phase }) => [id, phase])
        .sort(),
    }).toEqual({
      code: 6,
      phases: [
        [done, 'completed'],
        [running, 'timed-out'],
      ].sort(),
    });
  });

  it('`wait` has nothing to do for an empty standard input, and needs no account', async () => {
    const { run } = await startScene();
    const env = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };
    const note = 'No jobs to wait for: standard input is empty.';
    expect(await run(['wait'], { env })).toEqual({ code: 0, out: '', err: `${note}\n` });
    const json = await run(['wait', '-', '--json'], { env, input: '\n' });
    expect({ ...json, err: linesOf(json.err) }).toEqual({ code: 0, out: '', err: [{ level: 'info', message: note }] });
  });

  it.each([[[]], [['--json']]])('says what it waits for, and until when: %j', async (flags) => {
    const { start } = await startScene();
    const busy = await serve((request, response) => {
      request.resume();
      const body = { status: 'error', code: 429, message: 'Too many.', data: [] };
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '30' }).end(JSON.stringify(body));
    });
    const waiting = start(['wait', '12', ...flags], { env: { AUDIENCE_BASE_URL: busy.url } });
    await waiting.shows('err', /The command retries audiences\.get at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: .*429/);
    const silent = await serve((request) => void request.resume());
    const unread = start(['wait', '12', '13', ...flags], { env: { AUDIENCE_BASE_URL: silent.url } });
    await unread.shows('err', /The status of 2 of 2 jobs is not known yet\. The command waits until /);
    const levels = flags.length > 0 ? linesOf(waiting.printed.err + unread.printed.err).map(({ level }) => level) : [];
    expect(levels.filter((level) => level !== 'info')).toEqual([]);
  });

  it('says when the limit of the service holds up its requests', async () => {
    const scene = await startScene({ limits: { write: { limit: 1_000, interval: 60_000 } } });
    const deleting = scene.start([
      'audiences',
      'delete',
      ...Array.from({ length: 200 }, (_, id) => String(id + 1_000)),
      '--json',
    ]);
    await deleting.shows(
      'err',
      /audiences\.delete is waiting: the `write` limit, 30 requests per minute, is used up until \d{4}-/,
    );
  });

  it.each([
    ['the build budget', 429, /^audiences\.create is waiting: the build budget is used up until [\d:T-]+Z\.$/],
    [
      'a Retry-After',
      503,
      /^audiences\.create is waiting: the service asked the client to wait until [\d:T-]+Z, after: /,
    ],
  ])('says after five seconds that a create waits for %s', async (_, status, line) => {
    const { start } = await startScene();
    const used = { limit: 60, used: 60 };
    const data = { yearmonth: '2026-11', build_budget: { hour: used, day: used, retry_after_seconds: 60 } };
    const { url } = await serve((request, response) => {
      request.resume();
      const isRead = request.method === 'GET';
      const body = { status: isRead ? 'success' : 'error', code: isRead ? 200 : status, message: 'x', data };
      const headers = { 'content-type': 'application/json', ...(!isRead && { 'retry-after': '60' }) };
      response.writeHead(body.code, headers).end(JSON.stringify(body));
    });
    const create = ['audiences', 'create', '--name', 'x'];
    const env = { AUDIENCE_BASE_URL: url };
    const [people, json] = [start(create, { env }), start([...create, '--json'], { env })];
    await people.shows('err', '\n');
    expect(people.printed.err.trimEnd()).toMatch(line);
    await json.shows('err', '\n');
    expect(linesOf(json.printed.err)).toEqual([{ level: 'info', message: expect.stringMatching(line) }]);
  });

  it('continues after the network was away', async () => {
    const scene = await startScene(RUNNING);
    const [id = 0] = await createAudiences(scene, 1);
    let isAway = false;
    let refused = 0;
    const proxy = await serve(async ({ url = '', headers, socket }, response) => {
      if (isAway) {
        refused++;
        socket.destroy();
        return;
      }
      const { authorization = '', accept = '' } = headers;
      const answer = await fetch(`${scene.url}${url}`, { headers: { authorization, accept } });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    const waiting = scene.start(['wait', String(id)], { env: { AUDIENCE_BASE_URL: proxy.url } });
    await waiting.shows('err', '100 Queued');
    isAway = true;
    await scene.time.untilTrue(() => refused > 2);
    scene.sandbox.jobs.finish('audience', id, 104);
    isAway = false;
    expect(await waiting.ended).toMatchObject({ code: 0, out: `audience\t${id}\tcompleted\t104\tCompleted\tA0\n` });
  });

  it('--timeout 0 ends with the error of reads that fail, once for all jobs', async () => {
    const { run } = await startScene({ faults: [{ status: 500 }] });
    const { code, err } = await run(['wait', '1', '2', '3', '--timeout', '0', '--max-retries', '1']);
    expect({ code, errors: err.match(/^error: .*/gm) }).toEqual({ code: 1, errors: [expect.stringContaining('500')] });
  });

  it('a refused token is reported once', async () => {
    const { run } = await startScene();
    const { code, err } = await run(['wait', '1', '2', '3'], { env: { AUDIENCE_TOKEN: 'nope' } });
    expect({ code, errors: err.match(/^error: .*401.*/gm)?.length }).toEqual({ code: 7, errors: 1 });
  });

  it('promises no job beyond the end of a sandbox that ends with the command', async () => {
    const { run } = await startScene();
    const { code, err } = await run(['audiences', 'create', '--name', 'x', '--wait', '--timeout', '1s', '--sandbox']);
    expect({ code, err }).toEqual({
      code: 6,
      err: expect.stringContaining('The sandbox and its jobs end with this command'),
    });
    expect(err).not.toMatch(/keeps running|To continue/);
  });

  it.each([
    [['wait', 'cohorts:7'], 'Kinds: audience, lookalike, estimate, activation, cohort.'],
    [['wait', '12', '--any', '--fail-fast'], '--any and --fail-fast cannot be combined.'],
  ])('%j is wrong usage', async (args, message) => {
    const { run } = await startScene();
    expect(await run(args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
  });
});
