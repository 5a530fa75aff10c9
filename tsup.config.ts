import { defineConfig, type Options } from 'tsup';

const shared: Options = {
  format: 'esm',
  target: 'es2023',
  platform: 'neutral',
  dts: true,
  splitting: true,
  treeshake: true,
  external: [/^node:/],
};

export default defineConfig([
  {
    ...shared,
    entry: { index: 'src/index.ts', node: 'src/node/index.ts', webhooks: 'src/webhooks/index.ts' },
    noExternal: ['zod'],
  },
  {
    ...shared,
    // By itself, so that what its servers bring along ends up in no chunk of the client's.
    entry: { sandbox: 'src/sandbox/index.ts', command: 'src/sandbox/command.ts' },
    dts: { entry: { sandbox: 'src/sandbox/index.ts' } },
    // The sandbox is a test bed: its servers are part of it, not dependencies of every user.
    noExternal: ['zod', 'hono', '@hono/node-server', '@modelcontextprotocol/server', '@modelcontextprotocol/core'],
    // What is made for browsers runs in Node, too, and the sandbox runs in both.
    esbuildOptions(options) {
      options.conditions = ['browser'];
    },
  },
]);
