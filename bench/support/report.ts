import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Returns the installed version of a package, or of this one. */
function versionOf(name: string): string {
  const path = name === 'audience-activation' ? 'package.json' : `node_modules/${name}/package.json`;
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).version;
}

/** Prints a title with what the figures depend on: the versions of the packages and of Node, and the processor. */
export function printTitle(title: string, packages: readonly string[]): void {
  const versions = packages.map((name) => `${name} ${versionOf(name)}`).join(', ');
  console.log(`${title}\n\nNode ${process.versions.node}, ${cpus()[0]?.model ?? 'unknown CPU'}; ${versions}\n`);
}

/** Prints a table in Markdown; columns after the first are numbers, aligned to the right. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, at) => Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const pad = (text: string, at: number): string => {
    const width = widths[at] ?? 0;
    return at === 0 ? text.padEnd(width) : text.padStart(width);
  };
  const line = (cells: readonly string[]): string => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  console.log([line(headings), line(rule), ...rows.map(line), ''].join('\n'));
}
