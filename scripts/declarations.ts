import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

/** The entry points that have types. */
export const ENTRIES = ['index', 'mcp', 'node', 'oauth', 'otel', 'redis', 'sandbox', 'webhooks'] as const;

/** Libraries that types need: older `lib`s lack the symbols of `await using`, and TypeScript 6 includes no types of Node. */
const REFERENCES = [
  { reference: '<reference lib="esnext.disposable" />', needed: /async(?:Dispose|Disposable)/i },
  { reference: '<reference types="node" />', needed: /from 'node:/ },
];

/** msw is optional: where it is not installed, the type of its handlers is `any`, and the compiler reports no error. */
const MSW_IMPORT = /^import \{ RequestHandler \} from 'msw';$/m;

/** Tags by which the OpenAPI document finds bodies and responses: a hover text would show them. */
const DOCUMENT_TAGS = /(?:\n *\*)? @(?:body|response|error) [^\n*]*(?=\n| \*\/)/g;

/** Writes the declarations of all entry points to a folder that contains their code. */
export async function writeDeclarations(folder: string): Promise<void> {
  const compilerOptions = { stripInternal: true, noEmit: false, emitDeclarationOnly: true };
  const bundle = await rollup({
    input: Object.fromEntries(ENTRIES.map((name) => [name, `src/${name === 'index' ? '' : `${name}/`}index.ts`])),
    external: [/^(?![./])/],
    plugins: [dts({ tsconfig: 'tsconfig.json', compilerOptions })],
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: '[name]-[hash].d.ts',
  });
  await bundle.close();
  const files = output.flatMap(({ fileName }) => (fileName.endsWith('.d.ts') ? [join(folder, fileName)] : []));
  if (!files.some((file) => MSW_IMPORT.test(readFileSync(file, 'utf8')))) {
    throw new Error('The types import none of msw any more. Fix scripts/declarations.ts.');
  }
  for (const file of files) await complete(file);
}

/** Adds to a file what its types need, and marks the types among its exports. */
async function complete(file: string): Promise<void> {
  const text = readFileSync(file, 'utf8').replace(DOCUMENT_TAGS, '');
  const added = REFERENCES.flatMap(({ reference, needed }) => (needed.test(text) ? [`/// ${reference}`] : []));
  const withoutMsw = text.replace(MSW_IMPORT, '// @ts-ignore -- msw is optional\n$&');
  writeFileSync(file, [...added, await withTypeModifiers(file, withoutMsw)].join('\n'));
}

/** The bundled declarations export every class as a value, even one that the sources export as a type. */
async function withTypeModifiers(file: string, text: string): Promise<string> {
  const code = file.replace(/\.d\.ts$/, '.js');
  if (!existsSync(code)) return text;
  const values = Object.keys(await import(pathToFileURL(code).href));
  const withModifier = (name: string): string => (values.includes(name.replace(/^.* as /, '')) ? name : `type ${name}`);
  return text.replaceAll(
    /^export \{ (.+) \}/gm,
    (_, names: string) => `export { ${names.split(', ').map(withModifier).join(', ')} }`,
  );
}
