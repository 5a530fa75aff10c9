import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { run } from './commands.ts';
import { type Projects, ROOT, type Step } from './project.ts';
import { TELEMETRY } from './runtimes.ts';
import { TYPESCRIPTS, typescriptAlias } from './versions.ts';

/** The configuration that the guide recommends. */
const GUIDE = readFileSync(join(ROOT, 'docs/typescript.md'), 'utf8');
const [, guideConfig = ''] = /```json\n(\{\n {2}"compilerOptions"[\s\S]*?)```/.exec(GUIDE) ?? [];

/** Files to compile: their texts by name, or paths below the root. */
interface Sources {
  readonly paths?: readonly string[];
  readonly texts?: Readonly<Record<string, string>>;
  readonly options: object;
}

/** A setting of `module`. */
interface ModuleSetting extends Sources {
  readonly name: string;
  /** First TypeScript that accepts it. @default the first of all */
  readonly since?: number;
}

const TASKS = 'scripts/package/programs/tasks.ts';
const BOTH = [TASKS, 'scripts/package/programs/node-tasks.ts'];
// A `.cts` file is CommonJS, so it loads the package by `require`.
const REQUIRED = { 'tasks.cts': readFileSync(join(ROOT, TASKS), 'utf8') };

const MODULES: readonly ModuleSetting[] = [
  { name: 'nodenext', since: 5.8, paths: BOTH, texts: REQUIRED, options: { module: 'nodenext' } },
  { name: 'node20', since: 5.9, paths: BOTH, texts: REQUIRED, options: { module: 'node20' } },
  { name: 'preserve', paths: BOTH, texts: REQUIRED, options: { module: 'preserve' } },
  { name: 'node16', paths: BOTH, texts: REQUIRED, options: { module: 'node16' } },
  { name: 'node18', since: 5.8, paths: BOTH, texts: REQUIRED, options: { module: 'node18' } },
  // Resolves as `node10` before TypeScript 6, and as `bundler` in TypeScript 6 and later.
  { name: 'commonjs', paths: BOTH, options: { module: 'commonjs', resolveJsonModule: true } },
  { name: 'bundler', paths: BOTH, options: { module: 'esnext', moduleResolution: 'bundler' } },
  // Without `dom`, Node provides the types of `fetch`.
  { name: 'the configuration of the guide', paths: BOTH, options: JSON.parse(guideConfig).compilerOptions },
  // No types by default, as in TypeScript 6 and later.
  { name: 'no `types`', paths: [TASKS], options: { module: 'nodenext', types: [] } },
  {
    name: 'programs as users write them',
    paths: ['test/types/package/programs.ts', 'test/types/package/undocumented-fields.ts'],
    options: {
      module: 'nodenext',
      paths: { zod: [join(ROOT, 'node_modules/zod/index.d.cts')] },
      // The other rows check the declarations, which takes three times as long as these programs.
      skipLibCheck: true,
      lib: ['es2023', 'dom', 'dom.iterable'],
    },
  },
];

/** The settings that every supported TypeScript compiles. */
const IN_EACH = ['nodenext', 'the configuration of the guide', 'programs as users write them'];

/** Steps for each setting, with the first TypeScript that accepts it and the latest, and for every supported TypeScript. */
export const typeSteps = (projects: Projects): Step[] =>
  MODULES.flatMap(({ name, since = 0, ...sources }) => {
    const versions = TYPESCRIPTS.filter((version) => Number.parseFloat(version) >= since);
    const chosen = IN_EACH.includes(name) ? versions : [versions[0] ?? '', TYPESCRIPTS[3]];
    return chosen.map((version) => ({
      name: `TypeScript ${version}, ${name}: strict, with the declarations checked`,
      work: async () => compile(projects, await projects.project('app', TELEMETRY), name, version, sources),
    }));
  });

/** Compiles files in a folder of a project with one version of TypeScript; resolves with the folder. */
export async function compile(
  { tool }: Projects,
  project: string,
  name: string,
  version: string,
  { paths = [], texts = {}, options }: Sources,
): Promise<string> {
  const folder = join(project, `types-${version}-${name.replace(/\W+/g, '-')}`);
  await mkdir(folder);
  const copies = paths.map(async (path) => [basename(path), await readFile(join(ROOT, path), 'utf8')] as const);
  const files = { ...Object.fromEntries(await Promise.all(copies)), ...texts };
  const compilerOptions = {
    target: 'es2023',
    // A common minimum: the package's declarations must reference any other library that they need.
    lib: ['es2023', 'dom'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    skipDefaultLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    ...options,
  };
  const config = JSON.stringify({ compilerOptions, files: Object.keys(files) });
  for (const [file, text] of Object.entries({ ...files, 'tsconfig.json': config })) {
    await writeFile(join(folder, file), text);
  }
  await run(project, process.execPath, [await tool(`${typescriptAlias(version)}/bin/tsc`), '-p', folder]);
  return folder;
}
