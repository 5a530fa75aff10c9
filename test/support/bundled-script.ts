import { build } from 'esbuild';
import { lazyEncoder } from '../../scripts/build-plugins.ts';

/** Bundles a module with all that it imports to a script for pages; its exports become properties of `globalName`. */
export async function bundleScript(entryPoint: string, globalName?: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    format: 'iife',
    write: false,
    plugins: [lazyEncoder],
    ...(globalName !== undefined && { globalName }),
  });
  return outputFiles.map(({ text }) => text).join('');
}
