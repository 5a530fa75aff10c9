import ts from 'typescript';
import { expect, test } from 'vitest';
import { checkService } from '../../../src/cli/check/check.ts';
import { overridesOf } from '../../../src/cli/check/report.ts';
import { Service } from './support/service.ts';
import { variants } from './variants.ts';

test('the code for fields in camelCase compiles with the types of the package', async () => {
  const { baseUrl, token, fetch } = new Service(variants['fields in camelCase']);
  const { findings } = await checkService({ baseUrl, token, level: 'read', fetch });
  const code = overridesOf(findings) ?? '';
  expect(code).toContain("'audiences.get': { data: snakeCased }");
  expect(compilerProblems({ [`${process.cwd()}/code.ts`]: code })).toEqual([]);
});

/** Returns what the compiler says of files that import the package by its name. */
function compilerProblems(files: Readonly<Record<string, string>>): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es2022.d.ts'],
    // The type of overrides needs nothing else of the package.
    paths: { 'audience-activation': [`${process.cwd()}/src/client/operation-overrides.ts`] },
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  host.fileExists = (path) => path in files || fileExists(path);
  host.readFile = (path) => files[path] ?? readFile(path);
  host.getSourceFile = (path, ...rest) => {
    const text = files[path];
    return text === undefined ? getSourceFile(path, ...rest) : ts.createSourceFile(path, text, ts.ScriptTarget.ESNext);
  };
  const program = ts.createProgram(Object.keys(files), options, host);
  return Object.keys(files).flatMap((path) =>
    [
      ...program.getSyntacticDiagnostics(program.getSourceFile(path)),
      ...program.getSemanticDiagnostics(program.getSourceFile(path)),
    ].map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`),
  );
}
