import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DOCUMENTS } from '../../scripts/documents.ts';

const documents = Object.entries(DOCUMENTS).map(([name, { path, text }]) => ({ name, path, text }));

it.each(documents)('$path is up to date: npm run docs -- $name', async ({ path, text }) => {
  expect(readFileSync(path, 'utf8')).toBe(await text());
});
