import { readFileSync } from 'node:fs';
import { operations } from '../src/spec/operations.ts';
import { DocComments } from './openapi/doc-comments.ts';

/** The comments around the table in the README. */
const TABLE = /(<!-- namespaces: [^\n]*-->\n\n).*?(\n\n<!-- end of namespaces -->)/s;

/** Returns the README with a table of the client's namespaces. */
export function readmeText(): string {
  const comments = new DocComments(['src/index.ts']);
  const called = Object.keys(operations).map((name) => name.split('.'));
  const namespaces = new Set([...called.map(([namespace = '']) => namespace), 'waits']);
  const rows = [...namespaces].map((namespace) => {
    const ofTable = called.flatMap(([name, method = '']) => (name === namespace ? [method] : []));
    const methods = new Set([...ofTable, ...comments.methodsOf('AudienceClient', namespace)]);
    const cells = [...methods].map((method) => `\`${method}\``).join(' ');
    return `| \`${namespace}\` | ${cells} | ${comments.commentOf('AudienceClient', namespace).description} |`;
  });
  const table = ['| namespace | methods | |', '| --- | --- | --- |', ...rows].join('\n');
  const readme = readFileSync('README.md', 'utf8');
  if (!TABLE.test(readme)) throw new Error('README.md has no place for the table of namespaces.');
  return readme.replace(TABLE, (_, begin, end) => `${begin}${table}${end}`);
}
