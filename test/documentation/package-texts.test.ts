import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { relativeLinks, SHIPPED } from '../support/documentation.ts';

describe.each(SHIPPED.filter((file) => file !== 'CHANGELOG.md'))('%s, which the package contains', (file) => {
  const text = readFileSync(file, 'utf8').replaceAll(/<!--.*?-->/gs, '');

  it('sends its reader to no clone of the repository', () => {
    expect(text.match(/\bclone\b|in the repository\b|npm run (?:bench|example|demo|docs|test:)\b/gi) ?? []).toEqual([]);
  });

  it('shows only pictures that the package contains', () => {
    const pictures = relativeLinks(text).filter((target) => target.endsWith('.png'));
    const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
    const paths = pictures.map((target) => posix.join(dirname(file), target));
    expect(paths.filter((path) => !existsSync(path) || !files.includes(dirname(path)))).toEqual([]);
  });
});

/** Defaults that are a number without a unit, because the option is no quantity. */
const UNITLESS = ['seed', 'outcome', 'page', 'rate'];

it('the default of an option that is a number names its unit', () => {
  const unnamed = globSync('src/!(cli)/**/*.ts').flatMap((path) => [
    ...readFileSync(path, 'utf8').matchAll(/@default \d[\d_]*\s*\*\/\s*(?:readonly )?(\w+)/g),
  ]);
  expect([...new Set(unnamed.map(([, name = '']) => name))].sort()).toEqual(UNITLESS.toSorted());
});

/** Returns the table of the outcomes of a create in a document, without the padding of its cells. */
function outcomesIn(path: string): string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const from = lines.findIndex((line) => line.startsWith('| `error.outcome` |'));
  const rest = from < 0 ? [] : lines.slice(from);
  const length = rest.findIndex((line) => !line.startsWith('|'));
  return rest.slice(0, length).map((line) => line.replaceAll(/ +/g, ' '));
}

it('the README has the table of outcomes of the guide to errors', () => {
  const table = outcomesIn('docs/errors-and-retries.md');
  expect(table.slice(2).map((row) => row.split('`')[1])).toEqual(['not-sent', 'refused', 'unknown', 'done']);
  expect(outcomesIn('README.md')).toEqual(table);
});

it('no other guide has a table of outcomes', () => {
  const others = globSync('docs/*.md').filter((path) => !path.endsWith('errors-and-retries.md'));
  expect(others.filter((path) => /^\| `not-sent` \|/m.test(readFileSync(path, 'utf8')))).toEqual([]);
});
