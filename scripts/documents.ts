import { readFileSync } from 'node:fs';

/** A committed document that a command writes and a test compares. */
interface GeneratedDocument {
  readonly path: string;
  readonly text: () => Promise<string>;
}

const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Generated documents by the name that `npm run docs -- NAME` takes, in the order in which they use each other. */
export const DOCUMENTS: Readonly<Record<string, GeneratedDocument>> = {
  contract: {
    path: 'src/spec/generated/contract.schema.json',
    text: async () => jsonOf((await import('./contract-schema.ts')).contractSchema()),
  },
  openapi: {
    path: 'src/spec/generated/openapi.json',
    text: async () => jsonOf(await (await import('./openapi/document.ts')).buildDocument()),
  },
  assumptions: { path: 'docs/assumptions.md', text: async () => (await import('./assumptions.ts')).assumptionsPage() },
  bodies: { path: 'docs/list-to-audience.md', text: async () => (await import('./bodies-table.ts')).bodiesPage() },
  'exit-codes': {
    path: 'docs/cli.md',
    text: async () => (await import('./help-tables.ts')).exitCodesPage(),
  },
  run: { path: 'docs/jobs.md', text: async () => (await import('./help-tables.ts')).runPage() },
  reference: { path: 'docs/reference.md', text: async () => (await import('./reference-page.ts')).referencePage() },
};

/** Returns a page with other rows in the table between the comments `<!-- NAME: … -->` and `<!-- end of NAME -->`. */
export function withTable(path: string, name: string, columns: readonly string[], rows: readonly string[][]): string {
  const place = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n\\n).*?(\\n\\n<!-- end of ${name} -->)`, 's');
  const page = readFileSync(path, 'utf8');
  if (!place.test(page)) throw new Error(`${path} has no place for the table of ${name}.`);
  const lines = [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return page.replace(place, (_, begin, end) => `${begin}${lines.join('\n')}${end}`);
}
