/** Throws if a condition does not hold. */
export function check(condition: boolean, description: string): asserts condition {
  if (!condition) throw new Error(`Not true: ${description}`);
}
