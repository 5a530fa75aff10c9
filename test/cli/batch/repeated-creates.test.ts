import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/terminal/exit-codes.ts';
import { type Scene, startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const KEY = ['--idempotency-key', 'order-4711'] as const;
const CREATE = ['audiences', 'create', '--name', 'Visitors', '--fields', 'id', ...KEY] as const;

it('a key of another body ends with 8; the list that the text names shows what the key has created', async () => {
  const scene = await startScene();
  const { out } = await scene.run(CREATE);
  const { code, err } = await scene.run(['audiences', 'create', '--name', 'Others', ...KEY]);
  expect(code).toBe(EXIT.refused);
  expect(err).toContain(
    'an earlier request used this key with another body. Before you use another key, check the list for the resource that the earlier request created.',
  );
  expect(err).not.toMatch(/new key|To repeat it/);
  expect(await scene.json(['audiences', 'list'])).toMatchObject([{ id: Number(out), name: 'Visitors' }]);
});

/** Starts a service that keeps its first create of an operation in flight until `faults.clear()`. */
const startHolding = (on: string) => startScene({ faults: [{ on, inFlight: 600_000, times: 1 }] });

/** Starts a command, and waits until the service holds its create in flight. */
async function startInFlight({ start, sandbox, time }: Scene, args: readonly string[]) {
  const running = start(args);
  await time.untilTrue(() => sandbox.faults.list().length === 0);
  return running;
}

describe('a create that is in flight', () => {
  it('is awaited by a second command; for one that does not wait its outcome is unknown; one audience is created', async () => {
    const scene = await startHolding('audiences.create');
    const first = await startInFlight(scene, CREATE);
    const { code, err } = await scene.run([...CREATE, '--max-retries', '0']);
    expect(code).toBe(EXIT.outcomeUnknown);
    expect(err).toContain('Repeat the request with --idempotency-key order-4711 and the same body.');
    expect(err).toContain('\n  To repeat the request, run the same command with --idempotency-key order-4711\n');
    const waiting = scene.start(CREATE);
    await scene.time.untilTrue(() => scene.sandbox.log.filter(({ status }) => status === 409).length === 2);
    scene.sandbox.faults.clear();
    const { out } = await first.ended;
    expect(await waiting.ended).toMatchObject({ code: EXIT.done, out, err: '' });
    expect(await scene.run(CREATE)).toMatchObject({ code: EXIT.done, out });
    expect(await scene.json(['audiences', 'list'])).toMatchObject([{ id: Number(out) }]);
  });

  it('refuses another body under its key as soon as it has ended', async () => {
    const scene = await startHolding('audiences.create');
    await startInFlight(scene, CREATE);
    const other = scene.start(['audiences', 'create', '--name', 'Others', ...KEY]);
    await scene.time.untilTrue(() => scene.sandbox.log.some(({ status }) => status === 409));
    scene.sandbox.faults.clear();
    expect(await other.ended).toMatchObject({ code: EXIT.refused, err: expect.stringContaining('with another body') });
    expect(await scene.json(['audiences', 'list'])).toMatchObject([{ name: 'Visitors' }]);
  });
});

describe('an import under a key', () => {
  /** Starts a scene with a file; returns also the words of its import. */
  async function startImport(...scene: Parameters<typeof startScene>) {
    const started = await startScene(...scene);
    const file = join(started.folder, 'customers.csv');
    await writeFile(file, 'email\nann@example.com\n');
    return { ...started, args: ['cohorts', 'import', file, ...KEY] };
  }

  it('is refused when it is run again, without advice to claim its file; the list has the one cohort', async () => {
    const { args, ...scene } = await startImport();
    const [cohort] = await scene.json(args);
    const { code, out, err } = await scene.run(args);
    expect({ code, out }).toEqual({ code: EXIT.refused, out: '' });
    expect(err).toContain(
      'error: An earlier import with the key "order-4711" has probably created the cohort: look for it with `audience-activation cohorts list` before you use another key.\n',
    );
    expect(err).not.toMatch(/To continue|upload-reference|To repeat it/);
    expect(await scene.json(['cohorts', 'list'])).toMatchObject([{ id: cohort?.id }]);
    const json = await scene.run([...args, '--json']);
    expect(linesOf(json.err).at(-1)).toMatchObject({ code: 'imported-before', idempotencyKey: 'order-4711' });
    expect(json.err).not.toContain('resume');
  });

  it('has an unknown outcome while an earlier import under the key is in flight, and one cohort is created', async () => {
    const faults = [{ on: 'cohorts.create', inFlight: 600_000, times: 1 }] as const;
    const { args, ...scene } = await startImport({ faults });
    const first = await startInFlight(scene, args);
    expect(await scene.run(args)).toMatchObject({
      code: EXIT.outcomeUnknown,
      err: expect.stringContaining(
        'error: An earlier import with the key "order-4711" has probably created the cohort: ',
      ),
    });
    scene.sandbox.faults.clear();
    expect((await first.ended).code).toBe(EXIT.done);
    expect(await scene.json(['cohorts', 'list'])).toHaveLength(1);
  });

  it('keeps its key in the command that claims the file after a lost response', async () => {
    const faults = [{ on: 'cohorts.create', cut: 'after', times: 1 }] as const;
    const { args, ...scene } = await startImport({ faults });
    const { code, err } = await scene.run([...args, '--max-retries', '0']);
    expect(code).toBe(EXIT.outcomeUnknown);
    const [, claim = ''] = /To continue: audience-activation (.*)/.exec(err) ?? [];
    expect(claim).toMatch(/ --idempotency-key order-4711$/);
    expect(await scene.run(claim.split(' '))).toMatchObject({ code: EXIT.done });
    expect(await scene.json(['cohorts', 'list'])).toHaveLength(1);
  });
});
