import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, type Format } from 'esbuild';
import { createSandbox } from '../../src/sandbox/index.ts';
import { run } from './commands.ts';
import { report } from './places.ts';
import type { Service } from './programs/tasks.ts';
import { TOOLS } from './versions.ts';

/** One test of the package. */
export interface Step {
  readonly name: string;
  readonly work: () => unknown;
}

/** Folders and a service of one run. */
export interface Projects {
  /** Installs the tarball, and other packages by name and version, into a new project, at the first call with this name. */
  readonly project: (name: string, packages?: Readonly<Record<string, string>>) => Promise<string>;
  /** Returns the path of a file of the installed runtimes, compilers and bundlers. */
  readonly tool: (path: string) => Promise<string>;
  /** Returns a service over HTTP with an account and limits of its own. */
  readonly service: () => Service;
  /** Notes what the tasks printed in a place. */
  readonly report: (place: string, output: string) => void;
}

/** Root folder of the repository. */
export const ROOT = resolve('.');
const INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** Packs the package and starts a service; the projects are below a folder. */
export async function openProjects(folder: string, isWritten: boolean): Promise<Projects> {
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run(ROOT, 'npm', pack);
  const tarball = join(folder, JSON.parse(stdout)[0].filename);
  const sandbox = createSandbox({ jobs: { duration: 0 } });
  const { url: baseUrl } = await sandbox.listen();
  const installed = new Map<string, Promise<string>>();
  const install = async (name: string, manifest: object, specifiers: readonly string[]): Promise<string> => {
    const cwd = join(folder, name);
    await mkdir(cwd);
    await writeFile(join(cwd, 'package.json'), JSON.stringify({ private: true, type: 'module', ...manifest }));
    await run(cwd, 'npm', [...INSTALL, ...specifiers]);
    return cwd;
  };
  const once = (name: string, manifest: object, specifiers: readonly string[]): Promise<string> => {
    const project = installed.get(name) ?? install(name, manifest, specifiers);
    installed.set(name, project);
    return project;
  };
  let accounts = 0;
  return {
    report: (place, output) => report(place, isWritten, output),
    project: (name, packages = {}) =>
      once(name, {}, [tarball, ...Object.entries(packages).map(([each, version]) => `${each}@${version}`)]),
    // Install scripts must run, because the packages of Node and Bun install their executables with them.
    tool: async (path) =>
      join(
        await once(
          'tools',
          { dependencies: TOOLS, allowScripts: { node: true, bun: true, deno: true, workerd: true } },
          [],
        ),
        'node_modules',
        path,
      ),
    service() {
      accounts += 1;
      const account = sandbox.accounts.create({
        email: `${accounts}@example.com`,
        password: 'x',
        company: `${accounts}`,
      });
      return { baseUrl, token: account.token('api'), mcpToken: account.token('mcp') };
    },
  };
}

/** Compiles code that imports files of `programs` into a project, where it imports the installed package, for a service. */
export async function writeProgram(
  cwd: string,
  file: string,
  code: string,
  service?: Service,
  format: Format = 'esm',
): Promise<string> {
  await build({
    stdin: { contents: code, resolveDir: join(ROOT, 'scripts/package/programs'), loader: 'ts' },
    outfile: join(cwd, file),
    bundle: true,
    define: { SERVICE: JSON.stringify(service ?? null) },
    packages: 'external',
    // Programs have side effects, which package.json denies of the package.
    ignoreAnnotations: true,
    platform: 'node',
    // Do not use the repository's configuration, which maps the package to its sources.
    tsconfigRaw: '{}',
    target: 'es2023',
    format,
    // Keep `import()` in CommonJS, so that a program can load the package in both ways.
    supported: { 'dynamic-import': true },
    logLevel: 'silent',
  });
  return file;
}
