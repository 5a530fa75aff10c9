import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type Format } from 'esbuild';
import { run } from './commands.ts';
import { JEST, OPENAPI_TOOLS, PEERS, TOOLS } from './versions.ts';

/** Folders of one run. */
export interface Projects {
  /** Project with the installed tarball and nothing else. */
  readonly app: string;
  /** Installs the tarball and the peer of its entry `otel` into another project, at the first call. */
  readonly traced: () => Promise<string>;
  /** Installs the tarball and tools for OpenAPI documents into another project, at the first call. */
  readonly withOpenApiTools: () => Promise<string>;
  /** Installs the tarball and one version of each peer into another project, at the first call. */
  readonly withPeers: (versions: keyof typeof PEERS) => Promise<string>;
  /** Installs the tarball and Jest into another project, at the first call. */
  readonly withJest: () => Promise<string>;
  /** Installs runtimes, compilers and bundlers into another project, at the first call; resolves with its folder. */
  readonly tools: () => Promise<string>;
}

/** Root folder of the repository. */
export const ROOT = resolve('.');
const INSTALL = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];

/** Packs the package and installs it into an empty project in a folder. */
export async function openProjects(folder: string): Promise<Projects> {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const tarball = join(folder, JSON.parse(stdout)[0].filename);
  const install = async (name: string, packages: Readonly<Record<string, string>>): Promise<string> => {
    const project = join(folder, name);
    await writeProject(project, {});
    const specifiers = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
    await run('npm', [...INSTALL, tarball, ...specifiers], { cwd: project, timeout: 120_000 });
    return project;
  };
  const installed = new Map<string, Promise<string>>();
  const once = (name: string, work: () => Promise<string>): Promise<string> => {
    const project = installed.get(name) ?? work();
    installed.set(name, project);
    return project;
  };
  const installOnce = (name: string, packages: Readonly<Record<string, string>>): Promise<string> =>
    once(name, () => install(name, packages));
  return {
    app: await install('app', {}),
    traced: () => installOnce('traced', { '@opentelemetry/api': PEERS.lowest['@opentelemetry/api'] }),
    withOpenApiTools: () => installOnce('with-openapi-tools', OPENAPI_TOOLS),
    withPeers: (versions) => installOnce(`${versions}-peers`, PEERS[versions]),
    withJest: () => installOnce('with-jest', { jest: JEST }),
    tools: () => once('tools', () => installTools(join(folder, 'tools'))),
  };
}

/** Creates a folder for one run. */
export const openFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'audience-activation-'));

async function installTools(folder: string): Promise<string> {
  // Install scripts must run, because the packages of Node and Bun install their executables by them.
  const allowScripts = { node: true, bun: true, deno: true, workerd: true };
  await writeProject(folder, { dependencies: TOOLS, allowScripts });
  await run('npm', INSTALL, { cwd: folder, timeout: 240_000 });
  return folder;
}

async function writeProject(folder: string, content: Readonly<Record<string, unknown>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', ...content }));
}

/** Compiles a program into a project, where it imports the installed package; returns the file name. */
export async function writeProgram(app: string, name: string, format: Format = 'esm', out?: string): Promise<string> {
  const file = out ?? `${name}.${format === 'cjs' ? 'cjs' : 'js'}`;
  await build({
    entryPoints: [join(ROOT, 'scripts/package/programs', `${name}.ts`)],
    outfile: join(app, file),
    bundle: true,
    packages: 'external',
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
