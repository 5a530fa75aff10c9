import { expect, test } from 'vitest';
import { checkWithVerdict } from './support/check-with-verdict.ts';
import { tryVariant } from './support/try-variant.ts';
import { unseenVariants } from './unseen-variants.ts';

test.each(unseenVariants)('$level: the check reports what is true of $name, and leaves no trace', async (variant) => {
  const { problems } = await tryVariant(variant, checkWithVerdict);
  expect(problems).toEqual([]);
});
