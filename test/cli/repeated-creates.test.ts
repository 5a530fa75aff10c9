import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { startScene } from './support/run-command.ts';
import { linesOf } from './support/scene.ts';

const KEY = ['--idempotency-key', 'order-4711'] as const;
const CREATE = ['audiences', 'create', '--name', 'Visitors', '--fields', 'id', ...KEY] as const;

it('a key of another body ends with 8; the list that the text names shows what the key has created', async () => {
  const scene = await startScene();
  const { out } = await scene.run(CREATE);
  const { code, err } = await scene.run(['audiences', 'create', '--name', 'Others', ...KEY]);
  expect(code).toBe(EXIT.refused);
  expect(err).toContain(
    'an earlier create used this key for another body. Look in the list for what it created before you use another key.',
  );
  expect(err).not.toMatch(/new key|To repeat it/);
  expect(await scene.json(['audiences', 'list'])).toMatchObject([{ id: Number(out), name: 'Visitors' }]);
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
      'error: An earlier import under the key "order-4711" has probably created the cohort: look for it with `audience-activation cohorts list` before you use another key.\n',
    );
    expect(err).not.toMatch(/To continue|upload-reference|To repeat it/);
    expect(await scene.json(['cohorts', 'list'])).toMatchObject([{ id: cohort?.id }]);
    const json = await scene.run([...args, '--json']);
    expect(linesOf(json.err).at(-1)).toMatchObject({ code: 'imported-before', idempotencyKey: 'order-4711' });
    expect(json.err).not.toContain('resume');
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
