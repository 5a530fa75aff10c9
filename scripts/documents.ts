import { assumptionsPage } from './assumptions.ts';
import { textOfContractSchema } from './contract-schema.ts';
import { buildDocument, textOf } from './openapi/document.ts';
import { referencePage } from './reference-page.ts';

/** A committed document that a command writes and a test compares. */
interface GeneratedDocument {
  readonly path: string;
  readonly text: () => string | Promise<string>;
}

/** Generated documents by the name that `npm run docs -- NAME` takes, in the order in which they use each other. */
export const DOCUMENTS: Readonly<Record<string, GeneratedDocument>> = {
  contract: { path: 'src/spec/generated/contract.schema.json', text: textOfContractSchema },
  openapi: { path: 'src/spec/generated/openapi.json', text: async () => textOf(await buildDocument()) },
  assumptions: { path: 'docs/assumptions.md', text: assumptionsPage },
  reference: { path: 'docs/reference.md', text: referencePage },
};
