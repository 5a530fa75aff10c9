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
