/**
 * Size of minified browser bundles of this client and of others, as one file.
 *
 *   npm run bench -- size
 */
import { sizeOfBundle, sizeOfOwnCode } from './support/bundle-size.ts';
import { clientImports, type Import, packagesOf, webhookImports } from './support/imports.ts';
import { printTable, printTitle } from './support/report.ts';

const kibibytes = (bytes: number): string => (bytes / 1024).toFixed(1);

async function rowOf({ name, code }: Import): Promise<string[]> {
  const { gzip, raw } = await sizeOfBundle(code);
  return [name, kibibytes(gzip), kibibytes(raw)];
}

printTitle('KiB in a browser', packagesOf([...clientImports, ...webhookImports]));
for (const [heading, imports] of Object.entries({ Client: clientImports, Webhooks: webhookImports })) {
  const rows = await Promise.all(imports.map(rowOf));
  printTable([heading, 'One file, gzip', 'One file'], rows);
}

const own = [...clientImports, ...webhookImports].filter((one) => one.package === 'audience-activation');
const rows = await Promise.all(
  own.map(async ({ name, code }) => {
    const { gzip, raw } = await sizeOfOwnCode(code);
    return [name, kibibytes(gzip), kibibytes(raw)];
  }),
);
printTable(['Own code, without dependencies', 'gzip', 'raw'], rows);
