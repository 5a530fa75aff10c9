import ts from 'typescript';
import { expect, test } from 'vitest';
import { checkService } from '../../../src/cli/check/check.ts';
import { overridesOf } from '../../../src/cli/check/report.ts';
import { compare } from '../../../src/cli/check/settings.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { someOf } from '../../support/volume.ts';
import { problemsOf, type Variant } from './support/judge.ts';
import { Service } from './support/service.ts';
import { variants } from './variants.ts';

async function check(variant: Variant, expected?: ServiceContract) {
  const service = new Service(variant);
  const before = { ...service.lists };
  const { baseUrl, token, fetch, clock } = service;
  const level = variant.writes ? 'write' : 'read';
  return { service, before, report: await checkService({ baseUrl, token, level, fetch, clock, expected }) };
}

test.each(Object.entries(variants))('the check reports what is true of %s, and harms nothing', async (_, variant) => {
  const { service, before, report } = await check(variant);
  expect(problemsOf(variant, report, service, before)).toEqual([]);
});

const complete = Object.entries(variants).filter(([, { stopped, mayStop }]) => !stopped && !mayStop);

test.each(someOf(complete))(
  'a second check with the settings of the first one finds no change of %s',
  async (_, variant) => {
    const { report: first } = await check(variant);
    const settings: ServiceContract = JSON.parse(JSON.stringify(first.contract));
    const { report: second } = await check(variant, settings);
    expect(compare(second.findings, second.contract, settings)).toEqual({ changes: [], unchecked: [] });
    expect({ ...second.contract, checked: undefined }).toEqual({ ...settings, checked: undefined });
    expect(second.requests.read).toBeLessThanOrEqual(first.requests.read);
  },
);

test('the code for fields in camelCase compiles with the types of the package', async () => {
  const code = overridesOf((await check(variants['fields in camelCase'] ?? {})).report.findings) ?? '';
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
