import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';

/**
 * Entries whose reports also include declarations that are not exported. Other entries would repeat the declarations of `index`.
 */
const WITH_INNER: ReadonlySet<string> = new Set(['index', 'sandbox']);

/** Returns the path of an entry's report. */
export const reportPath = (entry: string): string => `api/${entry}.api.md`;

/** The names of all entries. */
export const entries: readonly string[] = ['index', 'mcp', 'node', 'oauth', 'otel', 'redis', 'sandbox', 'webhooks'];

/** Returns the API report of an entry of `dist`: the signatures of everything that it exports, ordered by name. */
export function apiReport(entry: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'api-report-'));
  try {
    extract(entry, folder);
    const report = readFileSync(join(folder, 'report.api.md'), 'utf8');
    const [, code = ''] = /^```ts\n(.*)^```/ms.exec(report) ?? [];
    const [, undocumented] = /^\/\/ @public \(undocumented\)\n(export .*)$/m.exec(code) ?? [];
    if (undocumented !== undefined) throw new Error(`${entry} exports without a doc comment: ${undocumented}`);
    const subpath = entry === 'index' ? '' : `/${entry}`;
    const text = code
      .replaceAll(/^ *\/\/ \(undocumented\)\n/gm, '')
      .replaceAll(/^\/\/ @public(?: \(undocumented\))?\n/gm, '')
      .replace(/\n\/\/ \(No @packageDocumentation.*\n/, '');
    const title = `# Public API of \`audience-activation${subpath}\`\n\nWritten by \`npm run api\`.`;
    return `${title}\n\n\`\`\`ts\n${text.trim()}\n\`\`\`\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const typesOf = (entry: string): string => resolve(`dist/${entry}.d.ts`);

/** The declarations of all entries, compiled once. */
let compilerState: CompilerState | undefined;

function extract(entry: string, folder: string): void {
  const types = typesOf(entry);
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
  };
  const config = ExtractorConfig.prepare({
    configObjectFullPath: undefined,
    packageJsonFullPath: resolve('package.json'),
    configObject: {
      projectFolder: resolve('.'),
      mainEntryPointFilePath: types,
      compiler: { overrideTsconfig: { compilerOptions, files: entries.map(typesOf) } },
      apiReport: {
        enabled: true,
        reportFileName: 'report.api.md',
        reportFolder: folder,
        reportTempFolder: join(folder, 'new'),
        includeForgottenExports: WITH_INNER.has(entry),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      newlineKind: 'lf',
    },
  });
  compilerState ??= CompilerState.create(config);
  const problems: string[] = [];
  Extractor.invoke(config, {
    localBuild: true,
    compilerState,
    messageCallback(message) {
      if (message.logLevel === ExtractorLogLevel.Error) problems.push(message.text);
      message.handled = true;
    },
  });
  if (problems.length > 0) throw new Error(`${types}: ${problems.join('; ')}`);
}
