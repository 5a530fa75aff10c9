import { expect, test } from 'vitest';
import { checkService } from '../../src/check/index.ts';
import { tryVariant } from './support/try-variant.ts';
import { unseenVariants } from './unseen-variants.ts';

test.each(unseenVariants)('$level: the check reports what is true of $name, and leaves no trace', async (variant) => {
  const { problems } = await tryVariant(variant, checkService);
  expect(problems).toEqual([]);
});
