import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/index.ts';
import { runProgram } from '../support/run-program.ts';
import { startBench } from '../support/sandbox.ts';

/** Starts a fast service with one account, whose jobs end at 107. */
async function listenFor(email: string, password: string) {
  const sandbox = createSandbox({ clock: { speed: 600 }, jobs: { outcome: 107 } });
  sandbox.accounts.create({ email, password });
  return { sandbox, ...(await sandbox.listen()) };
}

// Most of their time is waiting for jobs.
describe.concurrent('examples/await-audience.ts', () => {
  it('builds an audience, prints eligibility and budget, and reports a failed build', async () => {
    const { stdout, stderr } = await runProgram(['examples/await-audience.ts']);
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^Created audience \d+, "Visitors of the last month"\.$/);
    expect(lines.some((line) => /^… Building after \d+\.\d s$/.test(line))).toBe(true);
    expect(lines).toContain('Activation is allowed.');
    expect(lines).toContain('Builds left: 59 this hour, 299 today.');
    expect(lines.at(-1)).toMatch(/^JobNeedsInfoError \(job-needs-info\): Audience \d+ .*107 Additional Info/);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/lookalike-to-activation.ts', () => {
  it('builds a seed, a lookalike and an activation', async () => {
    const { stdout, stderr } = await runProgram(['examples/lookalike-to-activation.ts']);
    const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('…'));
    expect(lines).toEqual([
      expect.stringMatching(/^Seed \d+ holds \d+ devices\.$/),
      expect.stringMatching(/^Lookalike \d+ holds 250000 devices\.$/),
      expect.stringMatching(/^Activation \d+ delivered devices: http:\/\//),
    ]);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/list-to-audience.ts', () => {
  it('hashes a list, imports it as a cohort, and saves the results of the activation of its audience', async () => {
    const { stdout, stderr } = await runProgram(['examples/list-to-audience.ts']);
    expect(stdout).toContain('Uploaded; to be claimed before');
    expect(stdout).toMatch(/Cohort \d+ has 50000 EIDs\./);
    expect(stdout).toMatch(/Audience \d+ has \d+ devices\./);
    expect(stdout).toMatch(/Saved \S+results\/\S+: \d/);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/telemetry.ts', () => {
  it('prints the traces of a create that is retried, of its wait, and of the webhook', async () => {
    const { stdout, stderr } = await runProgram(['examples/telemetry.ts']);
    const lines = stdout.split('\n').map((line) => line.replace(/ {2}\d+ ms/, ''));
    expect(lines.slice(2, 7)).toEqual([
      'order audience',
      '  audiences.create  status_code=200  outcome=success',
      '    POST /api/v2/audiences/create  status_code=503  type=503',
      '    POST /api/v2/audiences/create  status_code=200  resend_count=1',
      // On a busy machine, a poll may notice the end first.
      expect.stringMatching(/^ {2}wait audience {2}outcome=completed {2}source=(webhook|poll) {2}polls=\d+$/),
    ]);
    expect(lines.slice(-3)).toEqual([
      expect.stringMatching(/^process audience\.completed {2}id=evt_/),
      '  save result',
      '',
    ]);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/webhook-server.ts', () => {
  it('receives the events of its jobs, and waits until they end', async () => {
    const { stdout, stderr } = await runProgram(['examples/webhook-server.ts']);
    for (const name of [1, 2]) expect(stdout).toContain(`Wait for "Visitors of store ${name}": Completed, reported by`);
    expect(stdout).toContain('Wait for "Visitors of store 3": JobNeedsInfoError, reported by');
    expect(stdout.match(/^Event: audience \d+ holds \d+ devices\.$/gm)).toHaveLength(2);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/error-handlers.ts', () => {
  it('answers 502 to visitors of Express, Fastify and h3 if the service refuses the token, without our advice', async () => {
    const { stdout, stderr } = await runProgram(['examples/error-handlers.ts']);
    const answer = '502 {"code":"authentication-failed"}';
    expect(stdout.trim().split('\n')).toEqual([`Express: ${answer}`, `Fastify: ${answer}`, `h3: ${answer}`]);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/mcp-agent.ts', () => {
  it('signs in, lists tools, builds an audience with them, and signs out', async () => {
    const { stdout, stderr } = await runProgram(['examples/mcp-agent.ts']);
    expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('…'))).toEqual([
      'Signed in.',
      expect.stringMatching(/^\d+ tools, among them audiences_create, audiences_get, audiences_list\.$/),
      expect.stringMatching(/^Created audience \d+, "Built by an agent"\.$/),
      expect.stringMatching(/^Completed: \d+ devices\.$/),
      'Signed out.',
    ]);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/testing', () => {
  it('has a test that passes with the sandbox in process', async () => {
    const { stdout } = await runProgram(['--test', 'examples/testing/audience.test.ts']);
    expect(stdout).toMatch(/^ℹ pass 1$/m);
  });

  it('has a shell script that logs in, creates, polls and lists', async () => {
    const { url, sandbox, close } = await listenFor('dev@example.com', 'sandbox');
    const { stdout } = await runProgram(['examples/testing/curl.sh', url], {}, 'bash');
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^Created audience \d+\.$/);
    expect(lines.at(-2)).toBe('Status 107.');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ status: 'success', data: [{ name: 'From a shell' }] });
    expect(sandbox.log[0]).toMatchObject({ path: '/api/v2/auth/login', status: 200 });
    await close();
  });
});

describe('examples/await-many.ts', () => {
  /** Runs the example; `whenShown` is called with the output so far. */
  async function start(
    env: NodeJS.ProcessEnv,
    ids: readonly string[],
    whenShown?: (text: string, stop: () => void) => void,
  ) {
    const child = spawn(process.execPath, ['examples/await-many.ts', ...ids], { env: { ...process.env, ...env } });
    let text = '';
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        whenShown?.(text, () => child.kill('SIGINT'));
      });
    }
    const [code] = await once(child, 'close');
    return { code, text };
  }

  it('waits for twenty audiences with a few reads, and exits with 1 if one fails', async () => {
    const { code, text } = await start({}, []);
    expect(code).toBe(1);
    expect(text.match(/^✓ .*Completed/gm)).toHaveLength(19);
    expect(text.match(/^✗ .*One that cannot be built .*Additional Info/gm)).toHaveLength(1);
    const reads = Number(/20 waits took (\d+) reads\./.exec(text)?.[1]);
    expect(reads).toBeGreaterThan(1);
    // Separate polls would read each of them every two seconds for half a minute.
    expect(reads).toBeLessThanOrEqual(60);
  });

  it('prints how to resume when it is interrupted, and resumes', async () => {
    const { sandbox, account, url } = await startBench();
    const env = { AUDIENCE_BASE_URL: url, AUDIENCE_TOKEN: account.token('api') };
    let interrupted = false;
    const stopped = await start(env, [], (text, stop) => {
      const created = text.match(/Queued/g)?.length === 20;
      if (created && !interrupted) stop();
      interrupted ||= created;
    });
    expect(stopped.code).toBe(130);
    const ids = /wait for them again: node examples\/await-many\.ts ([\d ]+)/.exec(stopped.text)?.[1]?.split(' ') ?? [];
    expect(ids).toHaveLength(20);
    await sandbox.advance(3_600_000);
    const resumed = await start(env, ids);
    expect(resumed.text.match(/^✓ .*Completed/gm)).toHaveLength(20);
    expect(resumed.code).toBe(0);
    expect(sandbox.log.filter(({ method }) => method === 'POST')).toHaveLength(20);
  });
});

describe.concurrent('examples/next-route', () => {
  it('creates once under the caller’s key, maps errors to statuses, and handles a delivery once', async () => {
    const { stdout, stderr } = await runProgram(['examples/next-route/run.ts']);
    const created = /^Created: 201 (.*)$/m.exec(stdout)?.[1];
    const { id } = JSON.parse(created ?? '');
    expect(stdout.trim().split('\n')).toEqual([
      `Created: 201 ${created}`,
      `The same again: 201 ${created}`,
      expect.stringMatching(/^Another under its key: 409 /),
      expect.stringMatching(/^Without a key: 400 .*Idempotency-Key/),
      expect.stringMatching(/^Too old data: 422 .*"dataset\.0\.start_date":/),
      expect.stringMatching(new RegExp(`^List: 200 .*"items":\\[\\{"id":${id},"name":"Visitors",[^\\]]*\\],"page":1`)),
      expect.stringMatching(new RegExp(`^Event: audience ${id} holds \\d+ devices\\.$`)),
      'Delivered: audience.completed: 200',
      'Delivered again: 200',
    ]);
    expect(stderr).toBe('');
  });
});

describe.concurrent('examples/worker', () => {
  it('starts a build once in workerd, responds immediately, and stores the result of the webhook', async () => {
    const { stdout, stderr } = await runProgram(['examples/worker/run.ts']);
    const id = /^Started: 202 \{"id":(\d+),"idempotencyKey":"order-4711"\}$/m.exec(stdout)?.[1];
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^Bundled in \d+ KiB\.$/);
    expect(lines.slice(1, 4)).toEqual([
      `Started: 202 {"id":${id},"idempotencyKey":"order-4711"}`,
      `The same again: 202 {"id":${id},"idempotencyKey":"order-4711"}`,
      `Running: 200 {"id":${id},"status":"Queued","results_count":0,"source":"service"}`,
    ]);
    expect(lines[4]).toBe('Delivered: audience.completed: 200');
    expect(JSON.parse(lines[5]?.replace('Ended: 200 ', '') ?? '')).toMatchObject({
      id: Number(id),
      status: 'Completed',
      results_count: expect.any(Number),
      source: 'webhook',
    });
    expect(lines.slice(6)).toEqual(['Not genuine: 400 ', 'Not there: 404 {"code":"not-found"}']);
    // workerd may report a connection that was closed by new options.
    const logged = stderr
      .trim()
      .split('\n')
      .filter((line) => !/Broken pipe|^stack:/.test(line));
    // The receiver logs why it refused the delivery that was not genuine.
    expect(logged).toEqual([expect.stringMatching(/The receiver refused a delivery: .*Service-Signature/)]);
  });
});
