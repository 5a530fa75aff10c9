import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { checkService, compare, linesOf, overridesOf } from '../../../src/cli/check/index.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { someOf } from '../../support/volume.ts';
import { problemsOf, type Variant } from './support/judge.ts';
import { Service } from './support/service.ts';
import { variants } from './variants.ts';

async function check({ service: definition, writes }: Variant, expected?: ServiceContract) {
  const service = new Service(definition);
  const before = { ...service.lists };
  const { baseUrl, token, fetch, clock } = service;
  const report = await checkService({ baseUrl, token, level: writes ? 'write' : 'read', fetch, clock, expected });
  return { service, before, report };
}

test('each variant has a name of its own', () => {
  expect(new Set(variants.map(({ name }) => name)).size).toBe(variants.length);
});

test.each(variants)('the check reports what is true of $name, and harms nothing', async (variant) => {
  const { service, before, report } = await check(variant);
  expect(problemsOf(variant, report, service, before)).toEqual([]);
  const lines = linesOf(report, { width: 80, file: 'service.json', emphasize: (text) => text });
  // A path, or a part of code, is not broken.
  expect(lines.filter((line) => line.length > 80 && line.trim().includes(' '))).toEqual([]);
});

const complete = variants.filter(({ stopped, mayStop }) => stopped === undefined && mayStop === undefined);

test.each(someOf(complete))(
  'a second check with the settings of the first one finds no change of $name',
  async (variant) => {
    const { report: first } = await check(variant);
    const settings: ServiceContract = JSON.parse(JSON.stringify(first.contract));
    const { report: second } = await check(variant, settings);
    expect(compare(second, settings)).toEqual({ changes: [], unchecked: [] });
    expect({ ...second.contract, checked: undefined }).toEqual({ ...settings, checked: undefined });
    expect(second.requests.read).toBeLessThanOrEqual(first.requests.read);
  },
);

describe('the code beside the file', () => {
  test('compiles with the types of the package, for every difference that data cannot adapt', async () => {
    const needsCode = /^(?:usage\.|uploads\.|fields|shape:|path:projects\.create)/;
    const codes = new Set<string>();
    for (const variant of variants.filter(({ expected = {} }) =>
      Object.keys(expected).some((id) => needsCode.test(id)),
    ))
      codes.add(overridesOf((await check(variant)).report) ?? '');
    codes.delete('');
    expect(codes.size).toBeGreaterThanOrEqual(6);
    expect([...codes].some((code) => code.includes('data: snakeCased'))).toBe(true);
    expect(
      compilerProblems(
        Object.fromEntries([...codes].map((code, index) => [`${process.cwd()}/code-${index}.ts`, code])),
      ),
    ).toEqual([]);
  });
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
