import { describe, expect, it } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { linesOf, startScene } from '../support/command.ts';
import { serve } from '../support/file-server.ts';

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
    await expect.poll(() => waiting.printed.err).toContain(`estimate:${id}: 100 Queued`);
    sandbox.jobs.finish('audience', one, 104);
    sandbox.jobs.finish('audience', two, 104);
    sandbox.jobs.finish('estimate', id, 104);
    const { code, out, err } = await waiting.ended;
    const rows = [`audience\t${one}\tcompleted\t104\tCompleted\tA0`, `audience\t${two}\tcompleted\t104\tCompleted\tA1`];
    expect({ code, rows: out.split('\n').slice(0, 2) }).toEqual({ code: 0, rows });
    expect(out).toMatch(new RegExp(`^estimate\t${id}\tcompleted\t104\tCompleted\t`, 'm'));
    expect(err.match(/104 Completed/g)).toHaveLength(3);
  });

  it('with `--json`, prints a line for each change, the last one with the resource, and errors on standard error', async () => {
    const scene = await startScene(RUNNING);
    const { sandbox, start } = scene;
    const [one = 0, two = 0] = await createAudiences(scene, 2);
    const waiting = start(['wait', String(one), String(two), '--json']);
    await expect.poll(() => linesOf(waiting.printed.out)).toHaveLength(2);
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
    for (const { printed } of [any, fast]) await expect.poll(() => printed.err.match(/100 Queued/g)).toHaveLength(3);
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

  it('Ctrl-C prints the command that resumes: exit code 130', async () => {
    const scene = await startScene(RUNNING);
    const ids = await createAudiences(scene, 2);
    const waiting = scene.start(['wait', '--timeout', '2h', ...ids.map(String)]);
    await expect.poll(() => waiting.printed.err.match(/100 Queued/g)).toHaveLength(2);
    waiting.child.kill('SIGINT');
    const { code, err } = await waiting.ended;
    const resume = `audience-activation wait ${ids.map((id) => `audience:${id}`).join(' ')} --timeout 7200s`;
    expect({ code, err: err.split('\n').slice(2) }).toEqual({
      code: 130,
      err: ['error: Interrupted.', `  To continue: ${resume}`, ''],
    });
    const json = scene.start(['wait', String(ids[0]), '--json']);
    await expect.poll(() => json.printed.out).toContain('"running"');
    json.child.kill('SIGTERM');
    const ended = await json.ended;
    expect(JSON.parse(ended.err)).toMatchObject({
      exitCode: 130,
      resume: `audience-activation wait audience:${ids[0]}`,
    });
  });

  it('Ctrl-C also ends a token command that still runs', async () => {
    const { start } = await startScene();
    const waiting = start(['wait', '12', '--token-command', 'trap "" TERM; echo waiting >&2; sleep 60']);
    await expect.poll(() => waiting.printed.err).toContain('waiting');
    waiting.child.kill('SIGINT');
    await expect.poll(() => waiting.child.exitCode).toBe(130);
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
    const measure = async (wait: () => Promise<unknown>): Promise<number> => {
      const before = reads();
      await wait();
      return reads() - before;
    };
    const byCommand = await measure(() => scene.run(['wait', '--timeout', '4s', ...ids.map(String)]));
    const byProgram = await measure(async () => {
      await using client = new AudienceClient({ baseUrl: scene.url, token: scene.account.token('api') });
      await Promise.allSettled(ids.map((id) => client.audiences.wait(id, { timeout: 4_000 })));
    });
    expect(byCommand).toBeGreaterThan(0);
    expect(Math.abs(byCommand - byProgram)).toBeLessThanOrEqual(2);
    const others = scene.sandbox.log.filter(
      ({ method, path }) => method === 'GET' && path !== '/api/v2/audiences/index',
    );
    expect(others.length).toBeLessThanOrEqual(2 * 2);
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
    await expect.poll(() => waiting.printed.err).toContain('100 Queued');
    isAway = true;
    await expect.poll(() => refused).toBeGreaterThan(2);
    scene.sandbox.jobs.finish('audience', id, 104);
    isAway = false;
    expect(await waiting.ended).toMatchObject({ code: 0, out: `audience\t${id}\tcompleted\t104\tCompleted\tA0\n` });
  }, 60_000);

  it.each([
    [['wait'], 'Name the jobs to wait for'],
    [['wait', 'cohorts:7'], 'Kinds: audience, lookalike, estimate, activation, cohort.'],
    [['wait', '12', '--any', '--fail-fast'], '--any and --fail-fast exclude each other.'],
    [['wait', '12', '--timeout', 'soon'], 'It must be a duration such as 90s, 10m or 1h30m.'],
  ])('%j is wrong usage', async (args, message) => {
    const { run } = await startScene();
    expect(await run(args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(message) });
  });
});
