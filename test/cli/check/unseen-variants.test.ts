import { expect, test } from 'vitest';
import { someOf } from '../../support/volume.ts';
import { checkWithVerdict } from './support/check-with-verdict.ts';
import { tryVariant } from './support/try-variant.ts';
import { unseenVariants } from './unseen-variants.ts';

test.each(someOf(unseenVariants))(
  '$level: the check reports what is true of $name, and leaves no trace',
  async (variant) => {
    const { problems } = await tryVariant(variant, checkWithVerdict);
    expect(problems).toEqual([]);
  },
);
