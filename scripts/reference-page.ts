import { readFileSync } from 'node:fs';
import { operations } from '../src/spec/operations.ts';
import { DocComments } from './openapi/doc-comments.ts';

/** The page with the table. */
const PAGE = 'docs/reference.md';

/** The comments around the table. */
const TABLE = /(<!-- namespaces: [^\n]*-->\n\n).*?(\n\n<!-- end of namespaces -->)/s;

/** Returns the reference with a table of the client's namespaces. */
export function referencePage(): string {
  const comments = new DocComments(['src/index.ts']);
  const called = Object.keys(operations).map((name) => name.split('.'));
  const namespaces = new Set([...called.map(([namespace = '']) => namespace), 'waits']);
  const rows = [...namespaces].map((namespace) => {
    const ofTable = called.flatMap(([name, method = '']) => (name === namespace ? [method] : []));
    const methods = new Set([...ofTable, ...comments.methodsOf('AudienceClient', namespace)]);
    const cells = [...methods].map((method) => `\`${method}\``).join(' ');
    return `| \`${namespace}\` | ${cells} | ${comments.commentOf('AudienceClient', namespace).description} |`;
  });
  const table = ['| namespace | methods | content |', '| --- | --- | --- |', ...rows].join('\n');
  const page = readFileSync(PAGE, 'utf8');
  if (!TABLE.test(page)) throw new Error(`${PAGE} has no place for the table of namespaces.`);
  return page.replace(TABLE, (_, begin, end) => `${begin}${table}${end}`);
}
