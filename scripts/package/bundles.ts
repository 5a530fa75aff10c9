import { builtinModules } from 'node:module';
import { build, type Metafile } from 'esbuild';
import { ENTRIES, specifier } from './nodes.ts';
import type { Projects } from './project.ts';
import type { Step } from './report.ts';

/** A bundle, and what is in it. */
interface Bundle {
  readonly text: string;
  readonly metafile: Metafile;
}

/** `parseTimestamp` is some thirty lines; more than this, in bytes, means that something came along. */
const SMALL = 4_096;

/** Texts that only the code of ky and of zod has. */
const TRACES = /\b(?:HTTPError|KyError|ky-|\$?Zod\w*|_zod)\b/;

/** What bundlers make of the package. */
export const bundleSteps = ({ app }: Projects): Step[] => [
  ...['.', './mcp', './oauth', './webhooks'].map((entry) => ({
    name: `${specifier(entry)}: no Node built-in in a bundle for browsers`,
    work: async () => refuse(builtins(await bundle(app, exportAll(entry)), true)),
  })),
  {
    name: `${specifier('./sandbox')}: Node built-ins are loaded when they are needed, not before`,
    work: async () => refuse(builtins(await bundle(app, exportAll('./sandbox')), false)),
  },
  ...ENTRIES.map((entry) => ({
    name: `${specifier(entry)}: nothing is left of an import without names`,
    async work() {
      const { text } = await bundle(app, `import '${specifier(entry)}';`, entry === './node' ? 'node' : 'browser');
      if (text !== '') throw new Error(`${text.length} characters are left: ${text.slice(0, 2_000)}`);
    },
  })),
  {
    name: 'audience-activation: parseTimestamp alone takes neither ky nor zod along',
    async work() {
      const { text, metafile } = await bundle(app, `export { parseTimestamp } from 'audience-activation';`);
      refuse(contents(metafile).filter((path) => /node_modules\/(?!audience-activation\/)/.test(path)));
      const [trace] = TRACES.exec(text) ?? [];
      if (trace !== undefined) throw new Error(`There is "${trace}" in the bundle.`);
      if (text.length > SMALL) throw new Error(`The bundle has ${text.length} bytes: ${text.slice(0, 2_000)}`);
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

/** Files that left something in the bundle. */
const contents = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );

/** Imports of Node built-ins by whatever the entry imports, lazily too if told so. */
function builtins({ metafile: { inputs } }: Bundle, lazily: boolean): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { path: to, kind, external } of inputs[path]?.imports ?? []) {
      if (kind === 'dynamic-import' && !lazily) continue;
      if (isBuiltin(to)) found.push(`${path} imports ${to}`);
      else if (!external) visit(to);
    }
  };
  visit('<stdin>');
  if (seen.size < 2) throw new Error('The bundle is of nothing.');
  return found;
}

const isBuiltin = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name);

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
