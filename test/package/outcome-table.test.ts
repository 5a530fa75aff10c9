import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

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
