import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

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

/** Keeps the settings of the bundled zod out of `globalThis`, where they would change those of the user's own copy. */
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

/** Bundles a JSON object as text, which is parsed when one of its properties is read for the first time. */
export const jsonAsText: Plugin = {
  name: 'json-as-text',
  setup({ onLoad }) {
    onLoad({ filter: /\.json$/ }, ({ path }) => {
      const value = JSON.parse(readFileSync(path, 'utf8'));
      const text = JSON.stringify(JSON.stringify(value));
      const getters = Object.keys(value).map(
        (key) => `get ${JSON.stringify(key)}() { return parsed()[${JSON.stringify(key)}]; }`,
      );
      const contents = `let value; const parsed = () => (value ??= JSON.parse(${text})); export default { ${getters.join(', ')} };`;
      return { contents, loader: 'js' };
    });
  },
};

/** Leaves the package's entries out of the bundle of the command, which imports the built ones instead. */
export const entriesAreExternal: Plugin = {
  name: 'entries-are-external',
  setup({ onResolve }) {
    onResolve({ filter: /^(?:\.\.\/)+(?:\w+\/)?index\.ts$/ }, ({ path }) => {
      const folder = /(\w+)\/index\.ts$/.exec(path)?.[1] ?? 'index';
      return { path: `./${folder}.js`, external: true };
    });
  },
};
