import { readFileSync } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { run } from './commands.ts';
import { ENTRIES } from './nodes.ts';
import { type Projects, ROOT } from './project.ts';
import type { Step } from './report.ts';
import { TYPESCRIPTS, typescriptAlias } from './versions.ts';

/** The configuration that the guide recommends. */
const GUIDE = readFileSync(join(ROOT, 'docs/typescript.md'), 'utf8');
const [, guideConfig = ''] = /```json\n(\{\n {2}"compilerOptions"[\s\S]*?)```/.exec(GUIDE) ?? [];

/** A setting of `module`. */
interface ModuleSetting {
  readonly name: string;
  /** First TypeScript that accepts it. @default the first of all */
  readonly since?: number;
  readonly files: readonly string[];
  readonly options: object;
}

const MODULES: readonly ModuleSetting[] = [
  // A `.cts` file is CommonJS, so it loads the package by `require`.
  { name: 'nodenext', since: 5.8, files: ['consumer.ts', 'consumer.cts'], options: { module: 'nodenext' } },
  { name: 'node20', since: 5.9, files: ['consumer.ts', 'consumer.cts'], options: { module: 'node20' } },
  { name: 'preserve', files: ['consumer.ts', 'consumer.cts'], options: { module: 'preserve' } },
  { name: 'node16', files: ['consumer.ts', 'dynamic-import.cts'], options: { module: 'node16' } },
  { name: 'bundler', files: ['consumer.ts'], options: { module: 'esnext', moduleResolution: 'bundler' } },
  // No types by default, as in TypeScript 6 and later.
  // Without `dom`: the types of `fetch` are those of Node.
  { name: 'the configuration of the guide', files: ['consumer.ts'], options: JSON.parse(guideConfig).compilerOptions },
  { name: 'no `types`', files: ['consumer.ts'], options: { module: 'nodenext', types: [] } },
];

/** The error for `require` of an ES module, which TypeScript reports with `node16` only. */
const REQUIRED_ES_MODULE = 'TS1479';

/** Steps for every supported TypeScript. */
export const typeSteps = (projects: Projects): Step[] =>
  TYPESCRIPTS.flatMap((version) =>
    stepsOf(projects, version, async () =>
      join(await projects.tools(), 'node_modules', typescriptAlias(version), 'bin', 'tsc'),
    ),
  );

/** Programs as users write them, and fields that a user declares. */
const USES = ['test/types/package/programs.ts', 'test/types/package/undocumented-fields.ts'];

const stepsOf = ({ app }: Projects, version: string, compiler: () => Promise<string>): Step[] => [
  ...MODULES.filter(({ since = 0 }) => Number.parseFloat(version) >= since).map(({ name, files, options }) => ({
    name: `TypeScript ${version}, ${name}: every entry, strict, with the declarations checked`,
    async work() {
      const folder = await writeSources(join(app, `types-${version}-${name.replace(/\W+/g, '-')}`), files, options);
      await run(process.execPath, [await compiler(), '-p', folder], { cwd: app });
    },
  })),
  // How the package is resolved with each setting of `module` is checked above.
  ...USES.map((path, at) => ({
    name: `TypeScript ${version}: ${path}`,
    async work() {
      const folder = join(app, `uses-${version}-${at}`);
      const paths = { zod: [join(ROOT, 'node_modules/zod/index.d.cts')] };
      // The steps above check the declarations, which takes three times as long as these programs.
      const libraries = { lib: ['es2023', 'dom', 'dom.iterable'], skipLibCheck: true };
      await writeSources(folder, [path], { module: 'nodenext', ...libraries, paths });
      await run(process.execPath, [await compiler(), '-p', folder], { cwd: app });
    },
  })),
  {
    name: `TypeScript ${version}, node16: \`require\` of every entry is refused by ${REQUIRED_ES_MODULE}`,
    async work() {
      const folder = await writeSources(join(app, `types-${version}-refused`), ['consumer.cts'], { module: 'node16' });
      const output = await failureOf(run(process.execPath, [await compiler(), '-p', folder], { cwd: app }));
      const codes = output.match(/\bTS\d+(?=:)/g) ?? [];
      if (codes.length !== ENTRIES.length || codes.some((code) => code !== REQUIRED_ES_MODULE)) throw new Error(output);
    },
  },
];

const failureOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'It compiles.',
    (error) => String(error),
  );

export async function writeSources(folder: string, files: readonly string[], options: object): Promise<string> {
  await mkdir(folder);
  for (const file of files) {
    const source = file.includes('/') ? file : join('scripts/package/programs', file.replace(/\.c?ts$/, '.ts'));
    await copyFile(join(ROOT, source), join(folder, basename(file)));
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify(
      configOf(
        files.map((file) => basename(file)),
        options,
      ),
    ),
  );
  return folder;
}

const configOf = (files: readonly string[], options: object): unknown => ({
  compilerOptions: {
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
    ...options,
  },
  files,
});
