/** Returns a name without case, underscores and hyphens. */
export const lettersOf = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/** Returns whether two texts are equal, or differ by one letter: an additional or different one, or two swapped. */
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
 * Minimum letters of a name for comparing it with an edit distance, because shorter words often differ from another
 * word by one letter.
 */
const MIN_LETTERS = 6;

/** Returns the letters of a name with its words in the singular. */
const singularOf = (name: string): string => lettersOf(name.replace(/s(?=[A-Z_-]|$)/g, ''));

/**
 * Returns the name of which `name` is a misspelling: equal except for case, underscores and hyphens or, with six
 * letters or more, different by one letter. A plural is not a misspelling of its singular.
 */
export function similarName(name: string, names: readonly string[]): string | undefined {
  const letters = lettersOf(name);
  const isMisspelling = (other: string): boolean =>
    lettersOf(other).length >= MIN_LETTERS &&
    differByOneLetter(letters, lettersOf(other)) &&
    singularOf(name) !== singularOf(other);
  return names.find((other) => lettersOf(other) === letters) ?? names.find(isMisspelling);
}
