const lettersOf = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/**
 * Returns the documented field that a name is a misspelling of: one that differs from it by case, underscores, hyphens,
 * or one letter.
 */
export function similarField(name: string, documented: readonly string[]): string | undefined {
  return documented.find((field) => isSimilar(lettersOf(name), lettersOf(field)));
}

function isSimilar(a: string, b: string): boolean {
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
