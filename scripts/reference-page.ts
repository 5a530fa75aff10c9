import { operations } from '../src/spec/operations.ts';
import { DocComments } from './openapi/doc-comments.ts';
import { withTable } from './page-tables.ts';

/** Returns the reference with a table of the client's namespaces. */
export function referencePage(): string {
  const comments = new DocComments(['src/index.ts']);
  const called = Object.keys(operations).map((name) => name.split('.'));
  const namespaces = new Set([...called.map(([namespace = '']) => namespace), 'waits']);
  const rows = [...namespaces].map((namespace) => {
    const ofTable = called.flatMap(([name, method = '']) => (name === namespace ? [method] : []));
    const methods = new Set([...ofTable, ...comments.methodsOf('AudienceClient', namespace)]);
    const cells = [...methods].map((method) => `\`${method}\``).join(' ');
    return [`\`${namespace}\``, cells, String(comments.commentOf('AudienceClient', namespace).description)];
  });
  return withTable('docs/reference.md', 'namespaces', ['namespace', 'methods', 'content'], rows);
}
