import { globSync, readFileSync } from 'node:fs';

/** Documents that are shipped with the package, the README first. */
export const SHIPPED: readonly string[] = [
  'README.md',
  ...globSync('docs/*.md').sort(),
  'examples/README.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'llms.txt',
];

/** A code block of a document. */
export interface Block {
  readonly file: string;
  /** The last heading above the block. */
  readonly heading: string;
  readonly code: string;
  /** Reason not to run the block, from a comment `<!-- compiled only: reason -->` on the line before it. */
  readonly compiledOnly: string | undefined;
}

const FENCE = /^```(.*)$/;
const HEADING = /^#{1,6} +(.*)$/;
const COMPILED_ONLY = /^<!-- compiled only: (.+) -->$/;

/** Returns the headings of a document, without those in code blocks. */
function headingsOf(text: string): string[] {
  const plain = text.replace(/^```.*?^```$/gms, '');
  return [...plain.matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = '']) => heading);
}

/** Returns the code blocks of a document that are fenced as `ts`. */
export function blocksOf(file: string, text: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let compiledOnly: string | undefined;
  let open: { language: string; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const fence = FENCE.exec(line);
    if (open && fence) {
      if (open.language === 'ts') blocks.push({ file, heading, code: open.lines.join('\n'), compiledOnly });
      open = undefined;
      compiledOnly = undefined;
    } else if (open) open.lines.push(line);
    else if (fence) open = { language: fence[1] ?? '', lines: [] };
    else if (line !== '') {
      heading = HEADING.exec(line)?.[1] ?? heading;
      compiledOnly = COMPILED_ONLY.exec(line)?.[1];
    }
  }
  return blocks;
}

/** A line that prints, with a comment that says what: a literal, or one word; an explanation may follow after a colon. */
const PRINTED =
  /^( *)console\.log\((.*)\); \/\/ ((?:'[^']*'|\[.*?\]|\{.*?\}|[\w.-]+)(?: (?:true|false|undefined|[\d.]+))*)(?:: .*)?$/gm;

/**
 * Returns code in which each line such as `console.log(error.code); // 'job-failed'` calls `expectPrinted` with the text
 * of the comment instead, and these texts.
 */
export function withExpectations(code: string): { readonly code: string; readonly texts: readonly string[] } {
  const texts: string[] = [];
  const changed = code.replaceAll(PRINTED, (_, indent: string, args: string, comment: string) => {
    const text = comment.replace(/^'(.*)'$/, '$1');
    texts.push(text);
    return `${indent}expectPrinted(${JSON.stringify(text)}, ${args});`;
  });
  return { code: changed, texts };
}

/** Returns every code block of the shipped documents. */
export function allBlocks(): Block[] {
  return SHIPPED.flatMap((file) => blocksOf(file, readFileSync(file, 'utf8')));
}

/** Returns the anchor of a heading, as on GitHub and npm. */
const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');

/** Returns the anchors of a document; a repeated heading gets a number. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const slug of headingsOf(text).map(slugOf)) {
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns the targets of a document's relative links. */
export function relativeLinks(text: string): string[] {
  const plain = text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
  const targets = [...plain.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z][a-z+.-]*:/.test(target));
}

/** Returns the cells of the first table at or after a marker, without the rule below its header. */
export function tableAfter(marker: string, text: string): string[][] {
  const lines = text.slice(text.indexOf(marker)).split('\n');
  const start = lines.findIndex((line) => line.startsWith('|'));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  const rows = lines.slice(start, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return rows.filter((_, index) => index !== 1);
}
