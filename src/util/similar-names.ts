/** Returns a name without case, underscores and hyphens. */
export const lettersOf = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/**
 * Returns whether two texts are equal or differ by one letter: an additional letter, a different letter, or two swapped
 * letters.
 */
export function differByOneLetter(a: string, b: string): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [restOfA, restOfB] = [a.slice(at + 1), b.slice(at + 1)];
  return (
    restOfA === restOfB ||
    restOfA === b.slice(at) ||
    restOfB === a.slice(at) ||
    (a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2))
  );
}

/**
 * Minimum letters of a name for a comparison by edit distance. Shorter words often differ from other words by one
 * letter.
 */
const MIN_LETTERS = 6;

/** Returns the letters of a name after converting its words to the singular. */
const singularOf = (name: string): string => lettersOf(name.replace(/s(?=[A-Z_-]|$)/g, ''));

/**
 * Returns the name that `name` misspells: it differs only in case, underscores and hyphens or, if it has at least six
 * letters, by one letter. A plural is not a misspelling of its singular.
 */
export function similarName(name: string, names: readonly string[]): string | undefined {
  const letters = lettersOf(name);
  const isMisspelling = (other: string): boolean =>
    lettersOf(other).length >= MIN_LETTERS &&
    differByOneLetter(letters, lettersOf(other)) &&
    singularOf(name) !== singularOf(other);
  return names.find((other) => lettersOf(other) === letters) ?? names.find(isMisspelling);
}
