import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const PAGE = 'docs/contributing/advice.md';
const rows = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:text|---) \|/.test(line))
  .map((line) => {
    const [text = '', code = '', test = ''] = line.slice(2, -2).split(' | ');
    const [, file = '', title = ''] = /^`([\w./-]+)` › (.+)$/.exec(test) ?? [];
    return { text, code, path: `test/${file}.test.ts`, title };
  });

/** The sources, without the backslashes that escape backticks. */
const sources = globSync('src/**/*.ts', { exclude: ['src/{cli,check,sandbox}/**'] })
  .map((path) => readFileSync(path, 'utf8').replaceAll('\\`', '`'))
  .join('\n');

it(`${PAGE} has the advice of the library`, () => {
  expect(rows.length).toBeGreaterThan(50);
});

it.each(rows)('an error says "$text", and a test follows it', ({ text, path, title }) => {
  expect(text).not.toBe('');
  expect(sources.includes(text)).toBe(true);
  expect(existsSync(path), path).toBe(true);
  expect(title).not.toBe('');
  expect(readFileSync(path, 'utf8').includes(title)).toBe(true);
});
