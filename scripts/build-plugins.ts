import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** Where the build notes what it bundled; scripts/build.ts reads and removes it. */
export const INPUTS = /^inputs-.+\.json$/;

/** Notes the files of which something is in the bundle, one list for each configuration. */
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

/** zod shares its settings by globals; the bundled copy keeps its own, and leaves its user's alone. */
export const privateZod: Plugin = {
  name: 'private-zod',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](?:core|registries)\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('globalThis.__zod_')) throw new Error(`${path} has no globals any more: mend privateZod.`);
      return { contents: `const zodGlobals = {};\n${text.replaceAll('globalThis', 'zodGlobals')}`, loader: 'js' };
    });
  },
};
