import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Leaves the OpenAPI document out of every bundle: all of them import the one file of it. */
export const documentIsExternal: Plugin = {
  name: 'document-is-external',
  setup({ onResolve }) {
    onResolve({ filter: /\/openapi\.json$/ }, () => ({ path: './openapi-json.js', external: true }));
  },
};

/** Returns a module that exports a JSON object, whose text is parsed when a property is read for the first time. */
export async function jsonModule(json: string): Promise<string> {
  const keys = Object.keys(JSON.parse(json)).map((key) => JSON.stringify(key));
  const getters = keys.map((key) => `get ${key}() { return parsed()[${key}]; }`);
  const parsed = `let value; const parsed = () => (value ??= JSON.parse(${JSON.stringify(json)}));`;
  const { code } = await transform(`${parsed} export default { ${getters.join(', ')} };`);
  return code;
}

/**
 * Leaves the package's entries out of the bundle of the command, which imports the built ones instead; not `check`, which
 * only the command uses.
 */
export const entriesAreExternal: Plugin = {
  name: 'entries-are-external',
  setup({ onResolve }) {
    onResolve({ filter: /^(?:\.\.\/)+(?:\w+\/)?index\.ts$/ }, ({ path }) => {
      const folder = /(\w+)\/index\.ts$/.exec(path)?.[1] ?? 'index';
      return folder === 'check' ? undefined : { path: `./${folder}.js`, external: true };
    });
  },
};

/** Files of `src/cli` that need neither the client nor a package. */
const LIGHT: readonly string[] = [
  'account-checks',
  'body-input',
  'command-name',
  'context',
  'dry-run',
  'error-texts',
  'exit-codes',
  'flag-values',
  'help-topics',
  'ids',
  'listing',
  'output',
  'profiles',
  'report-error',
  'resource-table',
  'running-sandboxes',
  'sample-events',
  'terminal',
  'token-command',
];

/** Files of `src/cli` that commands with a client need. */
const WITH_CLIENT: readonly string[] = ['connection', 'find-account', 'job-waits'];

/**
 * Has the files of the command that are loaded on demand import all that they may share. Otherwise the build has a chunk
 * for each combination of them that shares something: Node takes half a millisecond for each of the fifteen more.
 */
export const fewChunks: Plugin = {
  name: 'few-chunks',
  setup({ onLoad }) {
    const onDemand =
      /[\\/]src[\\/]cli[\\/](?:commands[\\/](.+)|main|connection|find-account|known-fields|completion)\.ts$/;
    onLoad({ filter: onDemand }, ({ path }) => {
      const [, command] = onDemand.exec(path) ?? [];
      const folder = command === undefined ? '.' : '..';
      const hasClient =
        /[\\/](?:connection|find-account)\.ts$/.test(path) || (command !== undefined && command !== 'webhook-commands');
      const shared = hasClient ? [...LIGHT, ...WITH_CLIENT] : LIGHT;
      const imports = shared.map((name) => `import '${folder}/${name}.ts';`).join(' ');
      return { contents: `${imports}\n${readFileSync(path, 'utf8')}`, loader: 'ts' };
    });
  },
};

/**
 * Reads these modules of Node without an import, which evaluates each of their exports: the streams of `process` alone
 * take milliseconds.
 */
export const builtinsWithoutImport: Plugin = {
  name: 'builtins-without-import',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: COSTLY_BUILTINS }, ({ path }) => ({ path, namespace: 'builtin' }));
    onLoad({ filter: COSTLY_BUILTINS, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/** Modules of Node whose import takes longer than a millisecond. */
export const COSTLY_BUILTINS: RegExp = /^node:(?:process|util|child_process)$/;
