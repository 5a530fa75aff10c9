import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { eventually } from '../support/eventually.ts';
import { type Scene, startScene } from './support/run-process.ts';

const KEY = ['--idempotency-key', 'order-4711'] as const;
const CREATE = ['audiences', 'create', '--name', 'Visitors', '--fields', 'id', ...KEY] as const;

/** Starts a service that keeps its first create of an operation in flight until `faults.clear()`. */
const startHolding = (on: string): Promise<Scene> => startScene({ faults: [{ on, inFlight: 600_000, times: 1 }] });

/** Waits until the service holds a create in flight. */
const isHeld = ({ sandbox }: Scene): Promise<void> => eventually(() => expect(sandbox.faults.list()).toEqual([]));

/** Waits until the service has responded with a 409. */
const hasRefused = ({ sandbox }: Scene): Promise<void> =>
  eventually(() => expect(sandbox.log).toContainEqual(expect.objectContaining({ method: 'POST', status: 409 })));

/** Starts a create and kills it with SIGKILL while the service holds it in flight. */
async function killInFlight(scene: Scene, args: readonly string[]): Promise<void> {
  const { child, ended } = scene.start(args);
  await isHeld(scene);
  child.kill('SIGKILL');
  expect((await ended).code).toBe('SIGKILL');
}

/** Returns the ids of the resources that the service has. */
const idsOf = async ({ json }: Scene, name: string): Promise<string[]> =>
  (await json([name, 'list'])).map(({ id }) => String(id));

describe('a create that was killed in flight', () => {
  it('waits for the response when the same command is run again, and creates one audience', async () => {
    const scene = await startHolding('audiences.create');
    await killInFlight(scene, CREATE);
    const again = scene.start(CREATE);
    await hasRefused(scene);
    scene.sandbox.faults.clear();
    const { code, out, err } = await again.ended;
    expect({ code, err }).toEqual({ code: EXIT.done, err: '' });
    expect(await idsOf(scene, 'audiences')).toEqual([out.trim()]);
  });

  it('names the key to repeat it with if it is not waited for; following that creates one audience', async () => {
    const scene = await startHolding('audiences.create');
    await killInFlight(scene, CREATE);
    const { code, err } = await scene.run([...CREATE, '--max-retries', '0']);
    expect(code).toBe(EXIT.outcomeUnknown);
    expect(err).toContain('Repeat it with the idempotency key "order-4711" and the same body.');
    expect(err).toContain('\n  To repeat it: the same command with --idempotency-key order-4711\n');
    scene.sandbox.faults.clear();
    const again = await scene.run(CREATE);
    expect(again.code, again.err).toBe(EXIT.done);
    expect(await idsOf(scene, 'audiences')).toEqual([again.out.trim()]);
  });

  it('is refused with another body as soon as it has ended', async () => {
    const scene = await startHolding('audiences.create');
    await killInFlight(scene, CREATE);
    const other = scene.start(['audiences', 'create', '--name', 'Others', ...KEY]);
    await hasRefused(scene);
    scene.sandbox.faults.clear();
    expect(await other.ended).toMatchObject({ code: EXIT.refused, err: expect.stringContaining('for another body') });
    expect(await scene.json(['audiences', 'list'])).toMatchObject([{ name: 'Visitors' }]);
  });
});

it('an import under a key has an unknown outcome while an import that was killed is in flight, and one cohort is created', async () => {
  const scene = await startHolding('cohorts.create');
  await writeFile(join(scene.folder, 'customers.csv'), 'email\nann@example.com\n');
  const args = ['cohorts', 'import', 'customers.csv', ...KEY];
  await killInFlight(scene, args);
  expect(await scene.run(args)).toMatchObject({
    code: EXIT.outcomeUnknown,
    err: expect.stringContaining(
      'error: An earlier import under the key "order-4711" has probably created the cohort: ',
    ),
  });
  scene.sandbox.faults.clear();
  await eventually(async () => expect(await scene.json(['cohorts', 'list'])).toHaveLength(1));
});
