import ts from 'typescript';

/** A file to check: its path in the repository, and its content. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** A term that the package invented, or that is no longer used, and what to write instead. */
interface Rule {
  readonly pattern: RegExp;
  readonly use: string;
}

/** Creates a rule. A space in `pattern` matches any white space, because phrases may be wrapped. */
const rule = (pattern: RegExp, use: string): Rule => ({
  pattern: new RegExp(pattern.source.replaceAll(' ', '\\s+'), 'gi'),
  use,
});

/**
 * Rules for comments, strings of several words, and Markdown outside of code. They name inventions and expressions that
 * are no longer used, never plain words: whoever may not write "tell" or "look" writes a longer sentence.
 */
const PROSE: readonly Rule[] = [
  rule(/\banew\b/, 'again'),
  rule(/\bfor ever\b/, 'indefinitely'),
  rule(/\bbe had\b/, 'available'),
  rule(/\bof (?:its|their) own\b/, 'its own'),
  rule(/\bmend(?:s|ed|ing)?\b/, 'fix'),
  rule(/\b(?:sit|sits|sat|sitting) out\b/, 'wait for, honor'),
  rule(/\b(?:minted|minting)\b|\bmints (?:an?|the|one)\b|\b(?:to|must|would|may|can|not) mint\b/, 'issue'),
  rule(
    /\b(?:lanes?|desks?|wish(?:es)?|heed(?:s|ed)?|sightings?|gatekeepers?|ledgers?)\b/,
    'the standard term: see the glossary',
  ),
];

/** Doc comments begin with a verb or a noun phrase: "Returns …", "Maximum …". */
const DOC_COMMENT = /\/\*\*[\s*]*(What|Whether|Who)\b/g;

/** Rules for the words of declared names. */
const NAMES = new Map<string, string>(
  Object.entries({
    'poll, PollRequest': 'look looks looked',
    Poller: 'room desk waiter',
    RateLimitBucket: 'lane lanes gatekeeper',
    PollRate: 'pace',
    'PollTimer, JobUpdate': 'turn sighting',
    'transient error': 'trouble troubles',
    'received, healthy': 'heard flowing',
    ReserveRequest: 'wish wishes',
    'handleRateLimit, acquirePermit': 'heed admit course',
    TokenRepository: 'ledger',
    issueToken: 'minted minting',
    'schemas, normalize': 'checkers mend mended',
    'the bound and its unit': 'patience',
    'modules, layers, middleware': 'floors strangers gates',
  }).flatMap(([use, words]) => words.split(' ').map((word): [string, string] => [word, use])),
);

/** Participles say nothing about the value of a variable. */
const PARTICIPLES: ReadonlySet<string> = new Set(['known', 'told', 'given', 'found', 'taken']);

/** Places where a term is right, as `path: "term"`; at most ten of them. */
const EXCEPTIONS: ReadonlySet<string> = new Set([]);

/** Returns the places where a file uses a term that it should not, as `path:line: "term": use …`. */
export function findWords({ path, text }: TextFile): string[] {
  const problems: { readonly at: number; readonly term: string; readonly use: string }[] = [];
  const add = (at: number, term: string, use: string): void => {
    if (!EXCEPTIONS.has(`${path}: "${term}"`)) problems.push({ at, term, use });
  };
  const { prose, names } = /\.[cm]?ts$/.test(path) ? readCode(text) : { prose: readMarkdown(text), names: [] };
  for (const { pattern, use } of PROSE) {
    for (const match of prose.matchAll(pattern)) add(match.index, match[0].replaceAll(/\s+/g, ' '), use);
  }
  for (const { index, 1: word = '' } of text.matchAll(DOC_COMMENT)) add(index, word, 'a verb or a noun phrase');
  for (const { at, name } of names) {
    const words = name.split(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_#$]/).map((word) => word.toLowerCase());
    const use = words.map((word) => NAMES.get(word)).find((term) => term !== undefined);
    if (use !== undefined) add(at, name, use);
    else if (PARTICIPLES.has(name)) add(at, name, 'a noun');
  }
  const lineOf = (at: number): number => text.slice(0, at).split('\n').length;
  return problems
    .sort((a, b) => a.at - b.at)
    .map(({ at, term, use }) => `${path}:${lineOf(at)}: "${term}": use ${use}`);
}

/** Replaces all but line ends by spaces, so that positions stay. */
const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

/** Returns Markdown, HTML or a shell script without code. */
const readMarkdown = (text: string): string =>
  text.replaceAll(/^```.*?^```$/gms, blank).replaceAll(/`[^`]*`|\]\([^)]*\)/g, blank);

/** Returns the prose of a program, everything else blank, and the names that it declares. */
function readCode(text: string): { prose: string; names: { readonly at: number; readonly name: string }[] } {
  const names: { readonly at: number; readonly name: string }[] = [];
  const literals: { readonly from: number; readonly to: number; readonly isProse: boolean }[] = [];
  const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralExpression(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isTemplateHead(node)) {
      const isProse = !ts.isRegularExpressionLiteral(node) && /\S\s+\S|^\s|\s$/.test(node.text);
      literals.push({ from: node.getStart(source), to: node.end, isProse });
    } else if (isDeclaration(node) && node.name && (ts.isIdentifier(node.name) || ts.isPrivateIdentifier(node.name))) {
      names.push({ at: node.name.getStart(source), name: node.name.text });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let code = text;
  for (const { from, to } of literals) code = code.slice(0, from) + blank(code.slice(from, to)) + code.slice(to);
  const comments = [...code.matchAll(/\/\*.*?\*\/|\/\/[^\n]*/gs)].map(({ index, 0: { length } }) => ({
    from: index,
    to: index + length,
  }));
  let prose = blank(text);
  for (const { from, to } of [...comments, ...literals.filter(({ isProse }) => isProse)]) {
    const words = text.slice(from, to).replaceAll(/^\s*(?:\*|\/\/)|`[^`\n]*`/gm, blank);
    prose = prose.slice(0, from) + words + prose.slice(to);
  }
  return { prose, names };
}

/** Returns whether a node declares a name: an import, a use of a name, or a key of an object does not. */
function isDeclaration(node: ts.Node): node is ts.NamedDeclaration {
  return (
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionLike(node) ||
    ts.isClassElement(node) ||
    ts.isTypeElement(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  );
}
