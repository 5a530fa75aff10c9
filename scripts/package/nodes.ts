import { spawnSync } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './commands.ts';
import { type Projects, writeProgram } from './project.ts';
import type { Step } from './report.ts';
import { NODES, nodeAlias } from './versions.ts';

/** The entry points of the package that need no other package. */
export const ENTRIES = ['.', './mcp', './node', './oauth', './redis', './sandbox', './webhooks'] as const;

/** Returns the module specifier of an entry point. */
export const specifier = (entry: string): string => `audience-activation${entry.slice(1)}`;

/** Formats of the Node program: ES module and CommonJS. */
const FORMS = [
  { form: 'import', format: 'esm' },
  { form: 'require', format: 'cjs' },
] as const;

const USES = 'sandbox over HTTP, a wait, errors by class, webhooks, MCP, a file, one set of classes';

/** Steps for every supported Node, by import and by require. */
export const nodeSteps = (projects: Projects): Step[] =>
  NODES.flatMap((version) =>
    stepsOf(projects, version, async () =>
      join(await projects.tools(), 'node_modules', nodeAlias(version), 'bin', 'node'),
    ),
  );

const stepsOf = ({ app }: Projects, version: string, node: () => Promise<string>): Step[] =>
  FORMS.map(({ form, format }) => ({
    name: `Node ${version}, ${form}: ${USES}`,
    async work() {
      const file = await writeProgram(app, 'node', format, `node-${version}.${format === 'cjs' ? 'cjs' : 'mjs'}`);
      const { stdout } = await run(await node(), [file], { cwd: app });
      if (stdout !== `done on ${version}\n`) throw new Error(`It wrote: ${stdout}`);
    },
  }));

/** Steps that check that importing an entry point has no side effects. */
export const importSteps = ({ app }: Projects): Step[] => ENTRIES.map((entry) => importStep(entry, async () => app));

/** Step that checks that importing an entry point, installed in the project of `folder`, has no side effects. */
export const importStep = (entry: string, folder: () => Promise<string>): Step => ({
  name: `${specifier(entry)}: importing it sends nothing, prints nothing, leaves no timer and no global`,
  async work() {
    const cwd = await folder();
    const file = await writeProgram(cwd, 'on-import', 'esm', `on-import-${entry.replace(/\W/g, '')}.mjs`);
    const { stdout, stderr } = await run(process.execPath, [file, specifier(entry)], { cwd, timeout: 15_000 });
    if (stdout + stderr !== '') throw new Error(stdout + stderr);
  },
});

/** Text of an error with its class, and the names of the functions that it passed. */
const READABLE =
  /^ValidationError: audiences\.create failed: 422 .+\n(?: {4}at .+\n)* {4}at Audiences\.create .+\n {4}at createRefused /m;

/** Step that checks what people read of an error, on the console and when nothing catches it. */
export const errorStep = ({ app }: Projects): Step => ({
  name: 'an error on the console, and one that nothing catches, show the names of its class and of functions',
  async work() {
    const file = await writeProgram(app, 'uncaught', 'esm', 'uncaught.mjs');
    const { stdout, stderr, status } = spawnSync(process.execPath, [file], { cwd: app, encoding: 'utf8' });
    if (status !== 1) throw new Error(`It ended with ${status}.`);
    for (const text of [stdout, stderr]) if (!READABLE.test(text)) throw new Error(`It wrote: ${text}`);
  },
});

/** Examples that need no other package. */
const EXAMPLES = ['await-audience.ts', 'lookalike-to-activation.ts', 'testing/audience.test.ts'];

/** Step that copies the examples of the package into a project, and runs some. */
export const exampleStep = ({ app }: Projects): Step => ({
  name: `the examples of the tarball run in a project: ${EXAMPLES.join(', ')}`,
  async work() {
    await cp(join(app, 'node_modules/audience-activation/examples'), join(app, 'examples'), { recursive: true });
    await Promise.all(EXAMPLES.map((file) => run(process.execPath, [join('examples', file)], { cwd: app })));
  },
});

/** Step that checks the licences of bundled packages. */
export const licenceStep = ({ app }: Projects): Step => ({
  name: 'the tarball contains the licences of bundled packages, zod and hono included',
  async work() {
    const path = join(app, 'node_modules/audience-activation/dist/THIRD-PARTY-LICENSES.txt');
    const titles = (await readFile(path, 'utf8')).match(/^\S+ \d\S* \([\w.-]+\)$/gm) ?? [];
    const missing = ['zod', 'hono'].filter((name) => !titles.some((title) => title.startsWith(`${name} `)));
    if (missing.length > 0) throw new Error(`${missing.join(', ')} missing in: ${titles.join(', ')}`);
  },
});
