import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REFERENCE } from '../../src/sandbox/routes/reference-data.ts';
import { LOOKALIKE_ACTIVATION_MINIMUM, LOOKALIKE_TARGET_SIZE, RESOURCE_PAGE_CAP } from '../../src/spec/limits.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { blocksOf } from '../support/documentation.ts';

const text = readFileSync('llms.txt', 'utf8');
const programs = blocksOf('llms.txt', text);
const testProgram = programs.find(({ heading }) => heading === 'A test')?.code ?? '';

/** Runs a program with Node's test runner, in a project with the built package; returns its exit code and output. */
async function runTests(code: string) {
  const folder = await temporaryDirectory();
  await mkdir(join(folder, 'node_modules'));
  await symlink(process.cwd(), join(folder, 'node_modules', 'audience-activation'));
  await writeFile(join(folder, 'build.test.mts'), code);
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return spawnSync(process.execPath, ['--test'], { cwd: folder, env, encoding: 'utf8' });
}

it('llms.txt has a first program, a nightly loop and a test; another test runs the first two', () => {
  expect(programs.map(({ heading, compiledOnly }) => [heading, compiledOnly])).toEqual([
    ['A first program', undefined],
    ['A nightly loop', undefined],
    ['A test', undefined],
  ]);
});

it('the test in llms.txt passes, and fails if a build ends otherwise', async () => {
  const { status, stdout } = await runTests(testProgram);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^ℹ pass 2$/m) });
  expect((await runTests(testProgram.replace('createClient(107)', 'createClient(104)'))).status).toBe(1);
});

it('llms.txt lists every guide under its title', () => {
  const titleOf = (path: string): string => /^# (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? '';
  expect(globSync('docs/*.md').filter((path) => !text.includes(`- [${titleOf(path)}](${path}): `))).toEqual([]);
});

it('llms.txt names the limits of the specification and a filter that the sandbox accepts', () => {
  expect(text).toContain(`\`per_page\`: at most ${RESOURCE_PAGE_CAP}.`);
  expect(text).toContain(`: 1 to ${LOOKALIKE_TARGET_SIZE.max.toLocaleString('en')};`);
  expect(text).toContain(`at least ${LOOKALIKE_ACTIVATION_MINIMUM.toLocaleString('en')} devices`);
  const [, table = '', name] = /`\{ (\w+): \['([^']+)'\] \}`/.exec(text) ?? [];
  expect(REFERENCE.common?.[table]?.map((row) => row.name)).toContain(name);
});
