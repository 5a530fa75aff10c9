import { execFileSync } from 'node:child_process';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = resolve('.');
const bin = (name: string): string => join(root, 'node_modules', '.bin', name);
const run = (command: string, args: string[], cwd = root): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8' });

let folder: string;
let project: string;
let tarball: string;
let packed: {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
};

/** Returns the specifiers of the entry points with code. */
const entries = (): string[] =>
  Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => `audience-activation${path.slice(1)}`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'audience-activation-'));
  [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder]));
  tarball = join(folder, packed.filename);
  // The packed files in an empty project, with the dependencies that npm would install.
  project = join(folder, 'project');
  const home = join(project, 'node_modules', 'audience-activation');
  mkdirSync(home, { recursive: true });
  run('tar', ['-xzf', tarball, '-C', home, '--strip-components=1']);
  for (const dependency of [
    '@types',
    '@modelcontextprotocol',
    '@opentelemetry',
    'ky',
    'zod',
    'p-retry',
    'p-throttle',
    'redis',
    'ioredis',
    'oauth4webapi',
    'bullmq',
    'is-network-error',
  ]) {
    symlinkSync(join(root, 'node_modules', dependency), join(project, 'node_modules', dependency));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed tarball', () => {
  it('contains what a user needs, and nothing else: no sources, no maps, no decision records', () => {
    const files = packed.files.map(({ path }) => path);
    expect([...new Set(files.map((path) => path.split('/')[0]))].sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'dist',
      'docs',
      'examples',
      'llms-api.txt',
      'llms.txt',
      'man',
      'mcp',
      'node',
      'oauth',
      'otel',
      'package.json',
      'redis',
      'sandbox',
      'webhooks',
    ]);
    expect(files.filter((path) => path.endsWith('.map'))).toEqual([]);
    expect(files.filter((path) => path.startsWith('docs/')).sort()).toEqual(
      globSync('docs/{*.md,images/*.png}').sort(),
    );
  });

  it('has the texts that the build writes: links of llms.txt to packed files, all declarations, the manual page', () => {
    const home = join(project, 'node_modules', 'audience-activation');
    const textOf = (path: string): string => readFileSync(join(home, path), 'utf8');
    const links = [...textOf('llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path);
    expect(links.length).toBeGreaterThan(20);
    const files = packed.files.map(({ path }) => path);
    expect(links.filter((path) => !files.includes(String(path)))).toEqual([]);
    const { man } = JSON.parse(textOf('package.json'));
    const headings = entries().map((entry) => `## ${entry}`);
    expect(
      textOf('llms-api.txt')
        .match(/^## .*$/gm)
        ?.sort(),
    ).toEqual(headings.sort());
    expect(man.map((path: string) => textOf(path).length > 0)).toEqual([true, true]);
  });

  it('exports the OpenAPI document and the schema of contracts', () => {
    const script = `import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      const { title } = require('audience-activation/contract.schema.json');
      const { openapi } = require('audience-activation/openapi.json');
      console.log(title, openapi);`;
    writeFileSync(join(project, 'documents.mjs'), script);
    const printed = run(process.execPath, ['documents.mjs'], project);
    expect(printed).toMatch(/^Contract of a service, for audience-activation 3\.1\.\d+\n$/);
  });

  it('shows no tags of the OpenAPI generator in hover texts', () => {
    const dist = join(project, 'node_modules', 'audience-activation', 'dist');
    const texts = readdirSync(dist)
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => readFileSync(join(dist, name), 'utf8'));
    expect(texts.join('').match(/@(?:body|response|error)\b/g)).toBe(null);
  });

  it('has the doc comments of public members in its declarations', () => {
    const dist = join(project, 'node_modules', 'audience-activation', 'dist');
    const texts = globSync('*.d.ts', { cwd: dist }).map((name) => readFileSync(join(dist, name), 'utf8'));
    for (const member of [
      'createAndWait',
      'readonly idempotencyKey',
      'class AudienceClient',
      'function verifyWebhook',
    ]) {
      expect(texts.filter((text) => new RegExp(`\\*/\\s+(?:declare )?${member}\\b`).test(text))).not.toEqual([]);
    }
  });

  it('lists bundled packages with their licences', () => {
    const path = join(project, 'node_modules', 'audience-activation', 'dist', 'THIRD-PARTY-LICENSES.txt');
    const text = readFileSync(path, 'utf8');
    for (const name of ['zod', 'hono']) expect(text).toMatch(new RegExp(`^${name} \\d\\S* \\(MIT\\)$`, 'm'));
    expect(text.match(/Permission is hereby granted/g)?.length).toBeGreaterThan(2);
  });

  it('runs its command, under both names', () => {
    const home = join(project, 'node_modules', 'audience-activation');
    const { bin: bins } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    const command = join(home, bins['audience-activation']);
    expect(bins).toEqual({ 'audience-activation': 'dist/cli.js', aud: 'dist/cli.js' });
    expect(readFileSync(command, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(run(process.execPath, [command, '--help'], project)).toContain('Usage: audience-activation [options]');
    const budget = run(process.execPath, [command, 'budget', '--sandbox', '--json'], project);
    expect(JSON.parse(budget)).toMatchObject({ hour: { limit: 60 } });
  });

  it('satisfies publint and attw, in their strictest form', () => {
    expect(run(bin('publint'), ['run', '--strict', tarball])).toContain('All good');
    // Exits with 1, and therefore throws, if there is a problem.
    const report = run(bin('attw'), [tarball, '--no-emoji', '--format', 'ascii']);
    expect(report.match(/^node10: OK/gm)).toHaveLength(entries().length + 3);
  });

  it('has a folder for each entry, for bundlers that do not read exports', () => {
    const home = join(project, 'node_modules', 'audience-activation');
    const subpaths = entries().map((entry) => entry.slice('audience-activation'.length));
    const resolved = subpaths.map((subpath) => createRequire(import.meta.url).resolve(join(home, subpath)));
    expect(resolved).toEqual(
      subpaths.map((subpath) => join(home, 'dist', `${subpath === '' ? 'index' : subpath.slice(1)}.js`)),
    );
  });

  it('has types that accept correct use and reject the rest (test/types/package)', () => {
    // The project maps no paths, so the name of the package resolves to the built declarations.
    expect(run(bin('tsc'), ['-p', 'test/types/package'])).toBe('');
  });

  it('compiles every code block of the README and the guides', () => {
    const guides = readdirSync('docs').filter((name) => name.endsWith('.md'));
    const texts = ['README.md', ...guides.map((name) => join('docs', name))].map((name) => readFileSync(name, 'utf8'));
    const blocks = texts.flatMap((text) => [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code));
    expect(blocks.length).toBeGreaterThan(12);
    for (const [at, code] of blocks.entries()) writeFileSync(join(project, `block-${at}.ts`), `export {};\n${code}`);
    const globals = `import type { AudienceClient, Credentials } from 'audience-activation';
      declare global { const client: AudienceClient; const credentials: Credentials; }`;
    writeFileSync(join(project, 'globals.d.ts'), globals);
    const compilerOptions = {
      strict: true,
      // `npm run test:package` checks the declarations.
      skipLibCheck: true,
      lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'],
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      noEmit: true,
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    expect(run(bin('tsc'), ['-p', project])).toBe('');
  });
});
