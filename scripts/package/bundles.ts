import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { BUNDLERS, type Bundler } from './bundlers.ts';
import { ENTRIES, specifier } from './nodes.ts';
import type { Projects } from './project.ts';
import type { Step } from './report.ts';

/** A bundle, with esbuild's report on it. */
interface Bundle {
  readonly text: string;
  readonly metafile: Metafile;
}

/** Maximum size in bytes of a bundle that uses only `parseTimestamp`, a function of some thirty lines. */
const MAX_PARSER_BYTES = 4_096;

/** Matches names that occur only in the code of ky and zod. */
const TRACES = /\b(?:HTTPError|KyError|ky-|\$?Zod\w*|_zod)\b/;

/** Imports of a single name, each with a string of code that its bundle must not contain. */
const PARTS = [
  { name: 'AudienceClient', without: 'the OpenAPI document', trace: 'x-rate-limit-bucket' },
  { name: 'openApiDocument', without: 'the client', trace: 'The token source returned no usable token' },
  { name: 'parseTimestamp', without: 'zod', trace: '_zod' },
] as const;

/** Steps that bundle the package. */
export const bundleSteps = (projects: Projects): Step[] => [
  ...stepsOf(projects),
  ...BUNDLERS.flatMap((bundler) =>
    PARTS.map(({ name, without, trace }) => ({
      name: `${bundler.name}: ${name} alone comes without ${without}`,
      async work() {
        const text = await bundleOf(projects, bundler, name);
        if (!text.includes('kept')) throw new Error('The bundle does not keep the import.');
        if (text.includes(trace)) throw new Error(`The bundle of ${text.length} characters contains "${trace}".`);
      },
    })),
  ),
];

/** Returns the text of a bundle that uses one name of the package. */
async function bundleOf(projects: Projects, { name: bundler, bundle }: Bundler, name: string): Promise<string> {
  const source = join(projects.app, `${name}-${bundler.replace(/\W.*/, '')}`);
  await mkdir(source);
  await writeFile(join(source, 'main.js'), `import { ${name} } from 'audience-activation'; globalThis.kept = ${name};`);
  const target = join(source, 'dist');
  await bundle(projects, source, ['main'], target);
  const files = (await readdir(target, { recursive: true })).filter((file) => file.endsWith('.js'));
  return (await Promise.all(files.map((file) => readFile(join(target, file), 'utf8')))).join('\n');
}

const stepsOf = ({ app }: Projects): Step[] => [
  ...['.', './mcp', './oauth', './sandbox', './webhooks'].map((entry) => ({
    name: `${specifier(entry)}: esbuild bundles all of it for browsers, without built-ins of Node`,
    async work() {
      const { text } = await bundle(app, `export * from '${specifier(entry)}';`);
      if (text === '') throw new Error('The bundle is empty.');
    },
  })),
  ...ENTRIES.map((entry) => ({
    name: `${specifier(entry)}: an import without names leaves nothing in the bundle`,
    async work() {
      const { text } = await bundle(app, `import '${specifier(entry)}';`, entry === './node' ? 'node' : 'browser');
      if (text !== '') throw new Error(`${text.length} characters remain: ${text.slice(0, 2_000)}`);
    },
  })),
  {
    name: 'audience-activation: parseTimestamp alone bundles neither ky nor zod',
    async work() {
      const { text, metafile } = await bundle(app, `export { parseTimestamp } from 'audience-activation';`);
      refuse(contents(metafile).filter((path) => /node_modules\/(?!audience-activation\/)/.test(path)));
      const [trace] = TRACES.exec(text) ?? [];
      if (trace !== undefined) throw new Error(`The bundle contains "${trace}".`);
      if (text.length > MAX_PARSER_BYTES)
        throw new Error(`The bundle has ${text.length} bytes: ${text.slice(0, 2_000)}`);
    },
  },
];

async function bundle(app: string, contents: string, platform: 'browser' | 'node' = 'browser'): Promise<Bundle> {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: app },
    bundle: true,
    minify: true,
    metafile: true,
    write: false,
    platform,
    format: 'esm',
    logLevel: 'silent',
  });
  return { metafile, text: outputFiles.map(({ text }) => text).join('') };
}

/** Returns the files that contribute to a bundle. */
const contents = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
