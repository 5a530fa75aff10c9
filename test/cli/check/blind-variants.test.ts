import { expect, test } from 'vitest';
import { someOf } from '../../support/volume.ts';
import { blindVariants } from './blind-variants.ts';
import { checkWithVerdict } from './support/check-with-verdict.ts';
import { tryVariant } from './support/try-variant.ts';

test.each(someOf(blindVariants))(
  '$level: the check reports what is true of $name, and leaves no trace',
  async (variant) => {
    const { problems } = await tryVariant(variant, checkWithVerdict);
    expect(problems).toEqual([]);
  },
);
