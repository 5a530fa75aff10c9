/** A part of a pattern: a character, a segment (`{id}`), or anything (`*`). */
type Part = string | 'segment' | 'anything';

/** Maximum number of characters of a pattern, which limits the time of a comparison. */
const MAX_PATTERN = 500;

/**
 * Returns a function that tests whether a path matches a pattern, in which `{id}` matches a segment and `*` anything.
 * Runs in O(path × pattern), whereas a regular expression with several `*` could backtrack exponentially.
 */
export function createPathMatcher(pattern: string): (path: string) => boolean {
  if (pattern.length > MAX_PATTERN)
    throw new Error(`Invalid fault rule: \`on\` must have up to ${MAX_PATTERN} characters, not ${pattern.length}.`);
  const parts = pattern.match(/\{\w+\}|\*+|./gsu)?.map(partOf) ?? [];
  return (path) => {
    // Positions in the pattern that match the path so far.
    let reached = skipAnything(parts, new Set([0]));
    for (const character of path) {
      const next = new Set<number>();
      for (const position of reached) {
        const part = parts[position];
        if (part === character) next.add(position + 1);
        else if (part === 'anything') next.add(position);
        else if (part === 'segment' && character !== '/') next.add(position).add(position + 1);
      }
      reached = skipAnything(parts, next);
      if (reached.size === 0) return false;
    }
    return reached.has(parts.length);
  };
}

const partOf = (source: string): Part => (source.startsWith('*') ? 'anything' : source.length > 1 ? 'segment' : source);

/** Adds the positions after `*`, which may also match nothing. */
function skipAnything(parts: readonly Part[], positions: Set<number>): Set<number> {
  for (const position of positions) if (parts[position] === 'anything') positions.add(position + 1);
  return positions;
}
