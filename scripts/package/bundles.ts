import { builtinModules } from 'node:module';
import { build, type Metafile } from 'esbuild';
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

/** Steps that bundle the package. */
export const bundleSteps = ({ app }: Projects): Step[] => [
  ...['.', './mcp', './oauth', './webhooks'].map((entry) => ({
    name: `${specifier(entry)}: no Node built-in in a bundle for browsers`,
    work: async () => refuse(builtins(await bundle(app, exportAll(entry)), true)),
  })),
  {
    name: `${specifier('./sandbox')}: Node built-ins are imported dynamically only`,
    work: async () => refuse(builtins(await bundle(app, exportAll('./sandbox')), false)),
  },
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

const exportAll = (entry: string): string => `export * from '${specifier(entry)}';`;

async function bundle(app: string, contents: string, platform: 'browser' | 'node' = 'browser'): Promise<Bundle> {
  const { metafile, outputFiles } = await build({
    stdin: { contents, resolveDir: app },
    bundle: true,
    minify: true,
    metafile: true,
    write: false,
    platform,
    format: 'esm',
    external: ['node:*'],
    logLevel: 'silent',
  });
  return { metafile, text: outputFiles.map(({ text }) => text).join('') };
}

/** Returns the files that contribute to a bundle. */
const contents = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );

/** Returns the imports of Node built-ins in a bundle; with `withDynamic`, also those behind dynamic imports. */
function builtins({ metafile: { inputs } }: Bundle, withDynamic: boolean): string[] {
  const imports: string[] = [];
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: to, kind, external } of inputs[path]?.imports ?? []) {
      if (kind === 'dynamic-import' && !withDynamic) continue;
      if (isBuiltin(to)) imports.push(`${path} imports ${to}`);
      else if (!external) visit(to);
    }
  };
  visit('<stdin>');
  if (seen.size < 2) throw new Error('The bundle is empty.');
  return imports;
}

const isBuiltin = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name);

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
