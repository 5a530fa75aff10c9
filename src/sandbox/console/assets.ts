import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// In the built package, this module contains the text of these files (`consoleAssets` in scripts/build-plugins.ts).

async function bundle(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(file, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    ...(file.endsWith('.ts') && { target: 'es2023', format: 'iife' }),
  });
  return outputFiles[0]?.text ?? '';
}

export const SCRIPT: string = await bundle('browser/page-script.ts');

export const STYLES: string = await bundle('console.css');
