import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { buildDocument, textOf } from '../../scripts/openapi/document.ts';

it('the OpenAPI document is what `npm run docs:openapi` writes', async () => {
  expect(await readFile('src/spec/openapi.json', 'utf8')).toBe(textOf(await buildDocument()));
}, 60_000);
