import ts from 'typescript';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkService, linesOf, overridesOf, verdictOf } from '../../../src/cli/check/index.ts';
import { AudienceClient } from '../../../src/index.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { quick } from '../../support/server.ts';
import { someOf } from '../../support/volume.ts';
import { blindVariants } from './blind-variants.ts';
import { LISTED } from './support/emulation.ts';
import type { Variant } from './support/expectations.ts';
import { startVariant } from './support/variant-service.ts';
import { unseenVariants } from './unseen-variants.ts';
import { variants } from './variants.ts';

const time = inVirtualTime();

const all = [...variants, ...blindVariants, ...unseenVariants];

async function start({ service }: Variant) {
  const running = await startVariant(service);
  onTestFinished(() => running.close());
  return running;
}

/** Checks a service, and returns the report with the contract as the file has it. */
async function check(variant: Variant) {
  const { baseUrl, token, fetch, clock } = await start(variant);
  const report = await checkService({ baseUrl, token, level: 'write', fetch, clock });
  const contract: ServiceContract = JSON.parse(JSON.stringify(report.contract));
  return { ...report, contract };
}

/** Services that data can adapt, and whose responses do not change with each request; clients wait in real time. */
const adapted = all.filter(
  ({ name, works = true, stopped, mayStop, level, service = {} }) =>
    works &&
    stopped === undefined &&
    mayStop === undefined &&
    !name.startsWith('four seconds') &&
    level !== 'build' &&
    service.isFilled !== false &&
    (service.contract !== undefined || service.traits === undefined),
);

describe('a client with the file that a check has written', () => {
  test.each(someOf(adapted))('lists all rows, gets, creates and waits at $name', async (variant) => {
    const { contract, findings } = await check(variant);
    const running = await start(variant);
    const client = new AudienceClient({
      ...quick,
      baseUrl: running.baseUrl,
      token: running.token,
      fetch: running.fetch,
      contract,
    });
    onTestFinished(() => client.close());
    for (const kind of LISTED) {
      const ids = (await running.resources()).filter((one) => one.kind === kind).map(({ id }) => id);
      const shown = (variant.service?.paging?.total ?? ids.length) < ids.length ? ids.slice(0, 1) : ids;
      expect((await time.until(Promise.resolve(client[kind].list().toArray()))).map(({ id }) => id)).toEqual(shown);
      expect((await time.until(Promise.resolve(client[kind].get(shown[0] ?? 0)))).id).toBe(shown[0]);
    }
    const isKnown = (id: string): boolean => findings.some((one) => one.id === id && one.state !== 'not-checked');
    if (!isKnown('path:audiences.create')) return;
    const wait = { onUpdate: ({ id }: { id: number }) => running.sandbox.jobs.finish('audience', id, 104) };
    const built = await time.until(client.audiences.createAndWait({ name: 'Built' }, { wait }));
    expect(built.name).toBe('Built');
  });

  test.each(someOf(all.filter(({ works }) => works === false)))('is not said to work at $name', async (variant) => {
    const { baseUrl, token, fetch, clock } = await start(variant);
    const report = await checkService({ baseUrl, token, level: variant.level, fetch, clock });
    expect(verdictOf(report, 'service.json')).toMatch(/ not work here: /);
    expect(report.findings.some(({ state }) => state === 'differs')).toBe(true);
  });
});

describe('the code beside the file', () => {
  const needsCode = all.filter(({ name }) =>
    /months as|a budget with other|named by a title|an id in the body|reservation with other|without a build budget|UUIDs|are numbers/.test(
      name,
    ),
  );

  test('compiles with the types of the package, for every difference that data cannot adapt', async () => {
    expect(needsCode.length).toBeGreaterThanOrEqual(8);
    const files: Record<string, string> = {};
    for (const variant of needsCode) {
      const code = overridesOf(await check(variant));
      expect(code, variant.name).toBeDefined();
      files[`${process.cwd()}/code-${needsCode.indexOf(variant)}.ts`] = code ?? '';
    }
    expect(problemsOf(files)).toEqual([]);
  });
});

/** Returns what the compiler says of files that import the package by its name. */
function problemsOf(files: Readonly<Record<string, string>>): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
    paths: { 'audience-activation': [`${process.cwd()}/src/index.ts`] },
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

describe('the report', () => {
  test.each(someOf(all.filter(({ level }) => level !== 'build').slice(0, 40)))(
    'says first what $name means, in lines of 80 columns',
    async (variant) => {
      const { baseUrl, token, fetch, clock } = await start(variant);
      const report = await checkService({ baseUrl, token, level: variant.level, fetch, clock });
      const lines = linesOf(report, { width: 80, file: 'service.json', emphasize: (text) => text });
      const text = lines.join(' ').replace(/\s+/g, ' ');
      expect(text.startsWith(verdictOf(report, 'service.json'))).toBe(true);
      // A path, or a part of code, is not broken.
      expect(lines.filter((line) => line.length > 80 && line.trim().includes(' '))).toEqual([]);
      const confirmed = report.findings.find(({ state }) => state === 'confirmed');
      expect(lines.join('\n')).not.toContain(`${confirmed?.id}:`);
    },
  );
});
