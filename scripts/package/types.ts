import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { run } from './commands.ts';
import { type Projects, ROOT } from './project.ts';
import type { Step } from './report.ts';
import { TYPESCRIPTS, typescriptAlias } from './versions.ts';

const MODULES = [
  // In a `.cts` file the package is required.
  { name: 'nodenext', files: ['consumer.ts', 'consumer.cts'], options: { module: 'nodenext' } },
  { name: 'bundler', files: ['consumer.ts'], options: { module: 'esnext', moduleResolution: 'bundler' } },
] as const;

/** Every supported TypeScript. */
export const typeSteps = (projects: Projects): Step[] =>
  TYPESCRIPTS.flatMap((version) =>
    stepsOf(projects, version, async () =>
      join(await projects.tools(), 'node_modules', typescriptAlias(version), 'bin', 'tsc'),
    ),
  );

/** The TypeScript of this clone. */
export const ownTypeSteps = (projects: Projects): Step[] =>
  stepsOf(projects, ts.version, async () => join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'));

const stepsOf = ({ app }: Projects, version: string, compiler: () => Promise<string>): Step[] =>
  MODULES.map(({ name, files, options }) => ({
    name: `TypeScript ${version}, ${name}: every entry, strict, with the declarations checked`,
    async work() {
      const folder = join(app, `types-${version}-${name}`);
      await mkdir(folder);
      for (const file of files) await copyFile(join(ROOT, 'scripts/package/programs/consumer.ts'), join(folder, file));
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configOf(files, options)));
      await run(process.execPath, [await compiler(), '-p', folder], { cwd: app });
    },
  }));

const configOf = (files: readonly string[], options: Readonly<Record<string, unknown>>): unknown => ({
  compilerOptions: {
    target: 'es2023',
    // No more than is common: what the declarations take beyond it, they say themselves.
    lib: ['es2023', 'dom'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules', '@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    ...options,
  },
  files,
});
