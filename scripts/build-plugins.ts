import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Plugin, transform } from 'esbuild';

/** Files in which the build lists what it bundled; scripts/build.ts reads and removes them. */
export const INPUTS = /^inputs-.+\.json$/;

/** Writes a list of the files that contribute to the bundle, one list for each configuration. */
export const noteInputs = (name: string): Plugin => ({
  name: 'note-inputs',
  setup({ onEnd }) {
    onEnd(({ metafile }) => {
      const used = Object.values(metafile?.outputs ?? {}).flatMap(({ inputs }) =>
        Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
      );
      mkdirSync('dist', { recursive: true });
      writeFileSync(`dist/inputs-${name}.json`, JSON.stringify(used));
    });
  },
});

/** Keeps the settings of the bundled zod out of `globalThis`, where they would change the settings of the user's own copy. */
export const privateZod: Plugin = {
  name: 'private-zod',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](?:core|registries)\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('globalThis.__zod_'))
        throw new Error(`${path} has no globals any more. Fix privateZod in scripts/build-plugins.ts.`);
      return { contents: `const zodGlobals = {};\n${text.replaceAll('globalThis', 'zodGlobals')}`, loader: 'js' };
    });
  },
};

/** Lets the bundled ky create its encoder when it is used: jsdom has none when the module is loaded. */
export const lazyEncoder: Plugin = {
  name: 'lazy-encoder',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]ky[\\/]distribution[\\/]utils[\\/]body\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace(
        '= new TextEncoder();',
        '= { encode: (value) => new TextEncoder().encode(value) };',
      );
      if (contents === text)
        throw new Error(`${path} has no encoder any more. Fix lazyEncoder in scripts/build-plugins.ts.`);
      return { contents, loader: 'js' };
    });
  },
};

/** Puts the text of the console's script and stylesheet in place of the module that bundles them. */
export const consoleAssets: Plugin = {
  name: 'console-assets',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]sandbox[\\/]console[\\/]assets\.ts$/ }, async ({ path }) => {
      const texts = Object.entries(await import(pathToFileURL(path).href));
      return { contents: texts.map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};`).join('\n') };
    });
  },
};

/** Leaves comments out of bundled packages; not of zod, whose unused parts the bundler finds by its annotations. */
export const withoutComments: Plugin = {
  name: 'without-comments',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]node_modules[\\/].+\.[cm]?js$/ }, async ({ path }) => {
      if (/[\\/]zod[\\/]/.test(path)) return undefined;
      const { code } = await transform(readFileSync(path, 'utf8'), { minifyWhitespace: true });
      return { contents: code, loader: 'js' };
    });
  },
};

/** Leaves out of a bundle the modules for which `to` returns a file of `dist`. The bundle imports this file instead. */
const external = (name: string, filter: RegExp, to: (path: string) => string | undefined): Plugin => ({
  name,
  setup({ onResolve }) {
    onResolve({ filter }, ({ path }) => {
      const file = to(path);
      return file === undefined ? undefined : { path: `./${file}.js`, external: true };
    });
  },
});

/** Leaves the OpenAPI document out of every bundle: all bundles import the same file. */
export const documentIsExternal = external('document', /\/openapi\.json$/, () => 'openapi-json');

/** Leaves the function that describes a contract out of the bundle of the sandbox, which imports the function of the client. */
export const contractDocumentIsExternal = external(
  'contract-document',
  /\/client\/openapi-document\.ts$/,
  () => 'openapi-document',
);

/**
 * Leaves the package's entries out of the bundle of the command, which imports the built ones instead. Includes the
 * functions of the client that the command uses.
 */
export const entriesAreExternal = external('entries', /^(?:\.\.\/)+(?:\w+\/)?index\.ts$/, (path) => {
  const folder = /(\w+)\/index\.ts$/.exec(path)?.[1] ?? 'index';
  return ['check', 'client'].includes(folder) ? undefined : folder;
});

/** Entries that a program may load without the client: they contain what they use of it, except the classes of errors. */
const SMALL_ENTRIES: readonly string[] = ['webhooks', 'openapi-document', 'timestamps'];

/** Returns the file of `dist` that a module of the client's build is part of. */
function fileOf(path: string): string {
  const name = basename(path, '.ts');
  // These modules have their own files, so that a page can use them without loading the client.
  if (['openapi-document', 'timestamps'].includes(name)) return name;
  const [folder = ''] = relative('src', path).split(sep);
  return ['errors', 'mcp', 'node', 'oauth', 'webhooks'].includes(folder) ? folder : 'client';
}

/**
 * Writes the client, with the folders below it, to one file, and the classes of errors to another: a process opens
 * these two instead of twenty. The other files import them. The entry `src/NAME` is all that the modules of a file export.
 */
export const fewFiles: Plugin = {
  name: 'few-files',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^src\/(?:client|errors)$/ }, ({ path }) => ({ path: resolve(path), namespace: 'modules' }));
    onLoad({ filter: /./, namespace: 'modules' }, ({ path }) => {
      const file = basename(path);
      const folders = file === 'client' ? '{client,spec,util}' : file;
      const modules = globSync(`src/${folders}/**/*.ts`).filter((module) => fileOf(module) === file);
      const contents = modules.map((module) => `export * from ${JSON.stringify(`./${module}`)};`).join('\n');
      return { contents, resolveDir: '.' };
    });
    onResolve({ filter: /^\.{1,2}\/.+\.ts$/ }, ({ path, kind, resolveDir, importer, namespace }) => {
      if (kind === 'entry-point' || namespace === 'modules') return undefined;
      const [from, to] = [fileOf(importer), fileOf(join(resolveDir, path))];
      const isContained = from === to || (to === 'client' && SMALL_ENTRIES.includes(from));
      return isContained ? undefined : { path: `./${to}.js`, external: true };
    });
  },
};
