import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './commands.ts';
import { type Projects, ROOT } from './project.ts';
import type { Step } from './report.ts';
import { JEST, NODES, nodeAlias } from './versions.ts';

/** The guide whose test is run. */
const GUIDE = 'docs/typescript.md';

/** Steps that run the test of the guide with Jest: as an ES module, and in CommonJS where Jest can `require` it. */
export const jestSteps = (projects: Projects): Step[] => [
  ...[NODES[0], NODES[2]].map((version) => ({
    name: `Jest ${JEST}, Node ${version}: the test of ${GUIDE}`,
    work: async () => runTest(projects, version, 'guide.test.mjs', await testOfGuide()),
  })),
  {
    name: `Jest ${JEST}, Node ${NODES[2]}: the same by \`require\``,
    work: async () => runTest(projects, NODES[2], 'guide.test.cjs', asCommonJs(await testOfGuide())),
  },
  {
    name: `Jest ${JEST}, Node ${NODES[0]}: the same by \`import()\` in CommonJS`,
    work: async () => runTest(projects, NODES[0], 'dynamic.test.cjs', withDynamicImport(await testOfGuide())),
  },
];

async function testOfGuide(): Promise<string> {
  const [, code] = /```js\n([\s\S]*?)```/.exec(await readFile(join(ROOT, GUIDE), 'utf8')) ?? [];
  if (code === undefined) throw new Error(`${GUIDE} has no test.`);
  return code;
}

const IMPORT = /^import (\{.+\}) from ('.+');$/gm;
const asCommonJs = (code: string): string => code.replaceAll(IMPORT, 'const $1 = require($2);');

/** Moves the imports into the test. */
function withDynamicImport(code: string): string {
  const imports = [...code.matchAll(IMPORT)].map(([, names, from]) => `  const ${names} = await import(${from});\n`);
  return code.replaceAll(IMPORT, '').replace('async () => {\n', (start) => start + imports.join(''));
}

async function runTest({ withJest, tools }: Projects, version: string, file: string, code: string): Promise<void> {
  const cwd = await withJest();
  await writeFile(join(cwd, file), code);
  const node = join(await tools(), 'node_modules', nodeAlias(version), 'bin', 'node');
  const args = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--testMatch', `**/${file}`];
  const { stderr } = await run(node, args, { cwd });
  if (!/^Tests: +1 passed, 1 total$/m.test(stderr)) throw new Error(stderr);
}
