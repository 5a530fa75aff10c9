import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { textOfContractSchema } from '../../scripts/contract-schema.ts';
import { declarationsText, guidesText, shortText } from '../../scripts/llms.ts';
import { buildDocument, textOf } from '../../scripts/openapi/document.ts';
import { referencePage } from '../../scripts/reference-page.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { allBlocks, blocksOf } from '../support/documentation.ts';

const run = promisify(execFile);

/** The text of each file of a folder, by its path in it. */
const filesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    globSync(join(folder, '**/*.md'))
      .sort()
      .map((path) => [relative(folder, path), readFileSync(path, 'utf8')]),
  );

describe('generated documents are up to date', () => {
  it('the OpenAPI document: npm run docs:openapi', async () => {
    expect(readFileSync('src/spec/generated/openapi.json', 'utf8')).toBe(textOf(await buildDocument()));
  }, 60_000);

  it('the schema of contracts: npm run docs:contract', () => {
    expect(readFileSync('src/spec/generated/contract.schema.json', 'utf8')).toBe(textOfContractSchema());
  }, 60_000);

  it('the namespaces in docs/reference.md: npm run docs:reference', () => {
    expect(readFileSync('docs/reference.md', 'utf8')).toBe(referencePage());
  }, 60_000);

  it('the reference of the API, without broken links or anything undocumented: npm run docs:api', async () => {
    const folder = await temporaryDirectory();
    // Exits with 1, and therefore throws, at any warning.
    await run('node_modules/.bin/typedoc', ['--out', folder]);
    expect(filesOf('docs/api')).toEqual(filesOf(folder));
  }, 120_000);

  it('llms.txt, llms-guides.txt and llms-api.txt: npm run docs:llms', () => {
    expect(readFileSync('llms.txt', 'utf8')).toBe(shortText());
    expect(readFileSync('llms-guides.txt', 'utf8')).toBe(guidesText());
    expect(readFileSync('llms-api.txt', 'utf8')).toBe(declarationsText());
  });

  it('every code block of llms-guides.txt is one that is compiled', () => {
    const compiled = new Set(allBlocks().map(({ code }) => code));
    const blocks = blocksOf('llms-guides.txt', readFileSync('llms-guides.txt', 'utf8'));
    expect(blocks.length).toBeGreaterThan(90);
    expect(blocks.filter(({ code }) => !compiled.has(code))).toEqual([]);
  });
});
