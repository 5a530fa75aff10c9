const VOLUMES = ['few', 'many', 'soak'];

/**
 * Returns how often a random test runs: `few` times in `npm test`, `many` in `npm run test:volume`, and `soak` in `npm
 * run test:soak`, which set `VOLUME`.
 */
export function runs(few: number, many: number, soak = many): number {
  const at = VOLUMES.indexOf(process.env.VOLUME ?? 'few');
  const number = [few, many, soak][at];
  if (number === undefined) throw new Error(`VOLUME is one of ${VOLUMES.join(', ')}.`);
  return number;
}

/** Returns every fifth case of a long table in `npm test`, and all of them in runs with a larger volume. */
export const someOf = <Case>(cases: readonly Case[]): Case[] => cases.filter((_, at) => at % runs(5, 1) === 0);
