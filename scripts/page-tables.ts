import { readFileSync } from 'node:fs';

/** Returns a page with other rows in the table between the comments `<!-- NAME: … -->` and `<!-- end of NAME -->`. */
export function withTable(path: string, name: string, columns: readonly string[], rows: readonly string[][]): string {
  const place = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n\\n).*?(\\n\\n<!-- end of ${name} -->)`, 's');
  const page = readFileSync(path, 'utf8');
  if (!place.test(page)) throw new Error(`${path} has no place for the table of ${name}.`);
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return page.replace(place, (_, begin, end) => `${begin}${lines.join('\n')}${end}`);
}
