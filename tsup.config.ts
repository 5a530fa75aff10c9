import { defineConfig, type Options } from 'tsup';
import {
  consoleAssets,
  contractDocumentIsExternal,
  documentIsExternal,
  entriesAreExternal,
  fewFiles,
  lazyEncoder,
  noteInputs,
  privateZod,
  withoutComments,
} from './scripts/build-plugins.ts';

/** The oldest supported browsers, as docs/support.md and docs/browsers.md name them. */
export const BROWSERS = { chrome: 120, edge: 120, firefox: 125, safari: 17.4 } as const;

const shared: Options = {
  format: 'esm',
  target: ['es2023', ...Object.entries(BROWSERS).map(([name, version]) => `${name}${version}`)],
  platform: 'neutral',
  splitting: true,
  treeshake: true,
  // Users' bundlers minify: stack traces, class names and the debugger show the code as it was written.
  minify: false,
  external: [/^node:/],
  // Bundlers for browsers and workers know built-ins by their prefix alone.
  removeNodeProtocol: false,
};

export default defineConfig([
  {
    ...shared,
    entry: {
      index: 'src/index.ts',
      mcp: 'src/mcp/index.ts',
      oauth: 'src/oauth/index.ts',
      node: 'src/node/index.ts',
      // No entries of the package.
      client: 'src/client',
      errors: 'src/errors',
    },
    noExternal: ['zod', 'uuid', 'ky', 'p-retry', 'p-throttle'],
    esbuildPlugins: [noteInputs('client'), privateZod, lazyEncoder, documentIsExternal, fewFiles],
  },
  {
    ...shared,
    // Each for itself, so that a page has only what it uses.
    splitting: false,
    entry: {
      webhooks: 'src/webhooks/index.ts',
      timestamps: 'src/util/timestamps.ts',
      'openapi-document': 'src/client/openapi-document.ts',
    },
    esbuildPlugins: [noteInputs('small'), documentIsExternal, fewFiles],
  },
  {
    ...shared,
    // By itself, so that the client is not split for what the two have in common.
    entry: { redis: 'src/redis/index.ts' },
    noExternal: ['zod', 'p-retry'],
    esbuildPlugins: [noteInputs('redis'), privateZod],
  },
  {
    ...shared,
    // By itself, because it shares only types with the client.
    entry: { otel: 'src/otel/index.ts' },
    esbuildPlugins: [noteInputs('otel')],
  },
  {
    ...shared,
    // By itself, so that what its servers bring along ends up in no chunk of the client's.
    entry: { sandbox: 'src/sandbox/index.ts', 'sandbox-browser': 'src/sandbox/browser.ts' },
    // The sandbox is a test bed: its servers are part of it, not dependencies of every user.
    noExternal: [
      'zod',
      'hono',
      '@hono/node-server',
      '@modelcontextprotocol/server',
      '@modelcontextprotocol/core',
      'devalue',
    ],
    esbuildPlugins: [
      noteInputs('sandbox'),
      consoleAssets,
      privateZod,
      withoutComments,
      documentIsExternal,
      contractDocumentIsExternal,
    ],
    // What is made for browsers runs in Node, too, and the sandbox runs in both.
    esbuildOptions(options) {
      options.conditions = ['browser'];
    },
  },
  {
    ...shared,
    // Uses the other entries as any program does, and loads the code of a command when it runs.
    entry: { cli: 'src/cli/start.ts' },
    platform: 'node',
    target: 'es2023',
    // The package of the completion scripts ships no text of its licence, so it is a dependency.
    external: [/^node:/, /^@bomb\.sh\/tab/],
    noExternal: [/^(?!node:|@bomb\.sh\/tab)/],
    esbuildPlugins: [entriesAreExternal, documentIsExternal, noteInputs('cli'), withoutComments],
  },
]);
