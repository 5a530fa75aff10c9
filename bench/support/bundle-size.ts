import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile } from 'esbuild';

/** Size of a bundle in bytes. Each of its files is compressed separately. */
export interface BundleSize {
  readonly raw: number;
  readonly gzip: number;
}

const NOTHING: BundleSize = { raw: 0, gzip: 0 };
const plus = (a: BundleSize, b: BundleSize): BundleSize => ({ raw: a.raw + b.raw, gzip: a.gzip + b.gzip });

interface Bundle {
  readonly sizes: ReadonlyMap<string, BundleSize>;
  readonly outputs: Metafile['outputs'];
}

/** Bundles a module and its packages, as published, for browsers, and minifies it. */
async function bundle(code: string, options: BuildOptions = {}): Promise<Bundle> {
  const { outputFiles = [], metafile } = await build({
    stdin: { contents: code, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    outdir: 'bundle',
    write: false,
    metafile: true,
    logLevel: 'error',
    // Ignore the repository's own configuration, which maps the package to its sources.
    tsconfigRaw: {},
    ...options,
  });
  const files = outputFiles.map(({ contents }) => ({
    raw: contents.length,
    gzip: gzipSync(contents, { level: 9 }).length,
  }));
  const outputs = metafile?.outputs ?? {};
  return { sizes: new Map(Object.keys(outputs).map((path, at) => [path, files[at] ?? NOTHING])), outputs };
}

/** Returns the size of a module, bundled with everything that it imports into one file. */
export async function sizeOfBundle(code: string): Promise<BundleSize> {
  const { sizes } = await bundle(code);
  return [...sizes.values()].reduce(plus, NOTHING);
}

/**
 * Returns the sizes of a module that is bundled with code splitting: of the files that its import loads, and of all
 * files.
 */
export async function sizeOfChunks(code: string): Promise<{ first: BundleSize; everything: BundleSize }> {
  const { sizes, outputs } = await bundle(code, { splitting: true });
  const loaded = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'));
  for (const path of loaded) {
    for (const { kind, path: next } of outputs[path]?.imports ?? []) if (kind === 'import-statement') loaded.add(next);
  }
  return {
    first: [...loaded].map((path) => sizes.get(path) ?? NOTHING).reduce(plus, NOTHING),
    everything: [...sizes.values()].reduce(plus, NOTHING),
  };
}

/** Returns the size of a module, bundled with the sources of this package that it imports but without dependencies. */
export async function sizeOfOwnCode(code: string): Promise<BundleSize> {
  const ofSources = code.replaceAll(/'audience-activation(\/\w+)?'/g, (_, entry = '') => `'./src${entry}/index.ts'`);
  const { sizes } = await bundle(ofSources, { packages: 'external' });
  return [...sizes.values()].reduce(plus, NOTHING);
}
