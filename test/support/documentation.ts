import { globSync, readFileSync } from 'node:fs';

/** The texts that come with the package, the README first. */
export const SHIPPED: readonly string[] = ['README.md', ...globSync('docs/*.md').sort(), 'CHANGELOG.md'];

/** A code block of a text. */
export interface Block {
  readonly file: string;
  /** The heading above it. */
  readonly heading: string;
  readonly code: string;
  /** Why it is compiled and not run, by a comment `<!-- compiled only: reason -->` on the line before it. */
  readonly compiledOnly: string | undefined;
}

const FENCE = /^```(.*)$/;
const HEADING = /^#{1,6} +(.*)$/;
const COMPILED_ONLY = /^<!-- compiled only: (.+) -->$/;

/** Headings of a text, those in code blocks aside. */
function headingsOf(text: string): string[] {
  const plain = text.replace(/^```.*?^```$/gms, '');
  return [...plain.matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading = '']) => heading);
}

/** The blocks of a text that are fenced as `ts`. */
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

/** Every block of the README and the guides. */
export function allBlocks(): Block[] {
  return SHIPPED.flatMap((file) => blocksOf(file, readFileSync(file, 'utf8')));
}

/** A heading's anchor, as GitHub and npm make it. */
const slugOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-');

/** The anchors of a text; a heading that comes again gets a number. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const slug of headingsOf(text).map(slugOf)) {
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The targets of a text's links that lead to other files or places of the repository. */
export function relativeLinks(text: string): string[] {
  const plain = text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
  const targets = [...plain.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !/^[a-z][a-z+.-]*:/.test(target));
}
