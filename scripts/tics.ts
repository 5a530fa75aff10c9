import type { TextFile } from './words.ts';

/** An expression of sentences that are often clumsy. Each is a place to look at, not a mistake. */
interface Tic {
  readonly pattern: RegExp;
  /** Most per 10,000 words, which may be lowered and never raised. */
  readonly bound: number;
}

/** Creates a tic. A space in `pattern` matches any white space, because sentences may be wrapped. */
const tic = (pattern: RegExp, bound: number): Tic => ({
  pattern: new RegExp(pattern.source.replaceAll(' ', '\\s+'), `g${pattern.flags}`),
  bound,
});

/** Tics of the guides, by what is wrong in most of the sentences. */
const TICS: Readonly<Record<string, Tic>> = {
  '";" or ":" between two thoughts': tic(/;|: [a-z][^|\n]{15,}/, 48),
  '"what …" as a noun': tic(/\bwhat (?:is|was|are|has|have|it|they|the|you|belongs|others)\b/i, 8),
  '"by" an instrument': tic(/\bby (?:`|(?:its|their|an?|default)\b)/i, 5),
  '"that of" instead of the noun': tic(/\b(?:that|those) of\b/i, 1),
  '"a create" as a noun': tic(/\b(?:a|the|each|every|held|all|its|that) creates?\b/i, 11),
  'a thing that is its error': tic(/\b(?:is|are) an? (?:`\w+Error`|\d{3}\b)/i, 0),
  '"as of", "such as by"': tic(/\b(?:as of|as those of|as that of|such as (?:of|by|in|from|to|for|with))\b/i, 0),
  '"of yours", "of its own"': tic(/\bof (?:yours|your own|its own)\b/i, 1),
};

/** A tic in the files. */
interface Count {
  readonly name: string;
  /** Places as `path:line: "text"`. */
  readonly places: readonly string[];
  /** Number per 10,000 words. */
  readonly rate: number;
  readonly bound: number;
}

/** Counts the tics of Markdown files. */
export function countTics(files: readonly TextFile[]): Count[] {
  const texts = files.map(({ path, text }) => ({ path, prose: withoutBlocks(text) }));
  const words = texts.reduce((sum, { prose }) => sum + (prose.match(/\S+/g)?.length ?? 0), 0);
  return Object.entries(TICS).map(([name, { pattern, bound }]) => {
    const places = texts.flatMap(({ path, prose }) =>
      [...prose.matchAll(pattern)].map(({ index, 0: match }) => {
        const line = prose.slice(0, index).split('\n').length;
        return `${path}:${line}: "${match.replaceAll(/\s+/g, ' ')}"`;
      }),
    );
    return { name, places, rate: (places.length / words) * 10_000, bound };
  });
}

/** Returns Markdown without blocks of code and targets of links, lines as they were. */
const withoutBlocks = (text: string): string =>
  text.replaceAll(/^```.*?^```$/gms, (block) => block.replaceAll(/[^\n]/g, '')).replaceAll(/\]\([^)\n]*\)/g, ']');
