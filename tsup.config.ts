import { defineConfig } from 'tsup';

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    node: 'src/node/index.ts',
    sandbox: 'src/sandbox/index.ts',
    webhooks: 'src/webhooks/index.ts',
  },
  format: 'esm',
  target: 'es2023',
  platform: 'neutral',
  dts: true,
  clean: true,
  splitting: true,
  treeshake: true,
  // The sandbox is a test bed: its web framework is part of it, not a dependency of every user.
  noExternal: ['zod', 'hono', '@hono/node-server'],
  external: [/^node:/],
});
