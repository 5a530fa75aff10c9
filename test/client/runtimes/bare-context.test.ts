import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { bundleScript } from '../../support/bundled-script.ts';

it.each(['index', 'webhooks/index'])(
  'src/%s is loaded where no global of a platform exists, such as `TextEncoder` in jsdom',
  async (entry) => {
    const script = await bundleScript(`src/${entry}.ts`, 'entry');
    expect(runInNewContext(`${script}; Object.keys(entry).length`)).toBeGreaterThan(0);
  },
);

it.each([
  ['Node', { versions: { node: '24.0.0' } }, true],
  ['a renderer of Electron', { versions: { node: '24.0.0' }, type: 'renderer' }, false],
])('tells a server from a browser: %s', async (_, process, isServer) => {
  const script = await bundleScript('src/util/runtime.ts', 'runtime');
  expect(runInNewContext(`${script}; runtime.isServerRuntime`, { process })).toBe(isServer);
});
