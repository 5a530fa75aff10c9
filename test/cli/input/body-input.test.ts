import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startScene } from '../support/run-command.ts';

const LATIN1 = Buffer.from('{"name":"M\u00fcnchen"}', 'latin1');

it('a body that is not UTF-8 is refused before anything is sent, as a file and on standard input', async () => {
  const { run, sandbox, folder } = await startScene();
  const file = join(folder, 'body.json');
  await writeFile(file, LATIN1);
  const create = ['audiences', 'create', '--data'];
  const [named, piped] = [await run([...create, `@${file}`]), await run([...create, '-'], { input: LATIN1 })];
  expect([named.code, named.err]).toEqual([2, expect.stringContaining(`${file}: line 1 is not UTF-8.`)]);
  expect([piped.code, piped.err]).toEqual([2, expect.stringContaining('Standard input: line 1 is not UTF-8.')]);
  expect((await run(['wait'], { input: LATIN1 })).code).toBe(2);
  expect(sandbox.log).toEqual([]);
});

it.each([
  [
    'a number that JavaScript would round',
    '{"project_id":9007199254740993}',
    '"project_id" is beyond 9007199254740991',
  ],
  ['a field twice', '{"name":"a","name":"b"}', 'has the field "name" twice'],
  ['a field __proto__', '{"__proto__":{"name":"a"}}', '"__proto__"'],
])('--data refuses %s', async (_, data, message) => {
  const { run, sandbox } = await startScene();
  const { code, err } = await run(['audiences', 'create', '--data', data]);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(sandbox.log).toEqual([]);
});

it('--data takes one field in several objects, and strings that look like JSON', async () => {
  const { run } = await startScene();
  const data = '{"name":"{\\"name\\":1}","dataset":[],"filters":[{"name":"a"},{"name":"name"}]}';
  expect((await run(['audiences', 'create', '--dry-run', '--data', data])).code).toBe(0);
});

it('audiences create --cohort-id sends the id as a number', async () => {
  const { run } = await startScene();
  const { code, out } = await run(['audiences', 'create', '--cohort-id', '81', '--dry-run']);
  expect([code, out]).toEqual([0, expect.stringContaining('{"cohort_id":81}')]);
});
