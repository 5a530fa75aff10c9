import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Defaults that are a number without a unit, because the option is no quantity. */
const UNITLESS = ['seed', 'outcome', 'page', 'rate'];

it('the default of an option that is a number names its unit', () => {
  const unnamed = globSync('src/!(cli)/**/*.ts').flatMap((path) => [
    ...readFileSync(path, 'utf8').matchAll(/@default \d[\d_]*\s*\*\/\s*(?:readonly )?(\w+)/g),
  ]);
  expect([...new Set(unnamed.map(([, name = '']) => name))].sort()).toEqual(UNITLESS.toSorted());
});
