import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { isOperationName, type Operation, type OperationName, operations } from '../../src/spec/operations.ts';
import { type JsonSchema, refTo } from './service.ts';

/** Description of an operation: what the comment of its row says, and what follows from the row. */
export interface OperationDetails {
  readonly summary: string;
  readonly description: string;
  /** Name of the schema of the body. */
  readonly body?: string;
  /** Name of the schema of the resource in `data`, if there is one. */
  readonly resource?: string;
  /** Schema of `data` in the envelope of a success. */
  readonly data: JsonSchema;
  /** Statuses of errors in addition to the errors of every operation. */
  readonly errors: readonly number[];
  /** Code of a call of the client. */
  readonly example: string;
}

const TABLE = 'src/spec/operations.ts';

/** A doc comment: its text, and the text of each tag. */
type Comment = Readonly<Partial<Record<string, string>>> & { readonly text: string };

/** Returns the details of all operations. */
export function operationDetails(): ReadonlyMap<OperationName, OperationDetails> {
  const details = new Map<OperationName, OperationDetails>();
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && ts.isStringLiteral(node.name) && isOperationName(node.name.text))
      details.set(node.name.text, detailsOf(node.name.text, commentOf(node)));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(TABLE, readFileSync(TABLE, 'utf8'), ts.ScriptTarget.Latest, true));
  return details;
}

function commentOf(row: ts.Node): Comment {
  const comment = ts.getJSDocCommentsAndTags(row).find(ts.isJSDoc);
  const tags = comment?.tags?.map((tag) => [tag.tagName.text, ts.getTextOfJSDocComment(tag.comment)]) ?? [];
  return { ...Object.fromEntries(tags), text: (ts.getTextOfJSDocComment(comment?.comment) ?? '').replace(/\s+/g, ' ') };
}

function detailsOf(name: OperationName, { text, body, response, error, example }: Comment): OperationDetails {
  const row: Operation = operations[name];
  const [summary] = text.split(/\.(?: |$)/);
  if (!summary) throw new Error(`${name} has no comment in ${TABLE}.`);
  const resource = /^\[?(\w+)/.exec(response ?? '')?.[1];
  const errors = [
    ...(row.path.includes('{') ? [404] : []),
    ...(row.retry === 'idempotency-key' ? [409, 413] : []),
    ...(row.token === 'mcp' ? [403] : body === undefined ? [] : [422]),
    ...(error?.split(', ').map(Number) ?? []),
  ];
  return {
    summary,
    description: [text, ...consequences(row, response)].join(' '),
    ...(body !== undefined && { body }),
    ...(resource !== undefined && resource !== 'object' && { resource }),
    data: dataOf(row, response),
    errors,
    example: example ?? exampleOf(name, row),
  };
}

/** Returns sentences that are true of every operation with such a row. */
const consequences = ({ startsJob, retry, reads }: Operation, response = ''): readonly string[] => [
  ...(startsJob ? ['Starts a worker job, which the build budget of the organization counts.'] : []),
  ...(response.startsWith('[') ? ['`data` is an array of one element.'] : []),
  ...(retry === 'never' && reads === 'envelope' ? ['Do not repeat it unless it certainly had no effect.'] : []),
];

function dataOf({ retry }: Operation, response: string | undefined): JsonSchema {
  if (response === undefined) return { description: 'Empty, or any value.', 'x-assumed': 'emptyData' };
  const name = response.replace(/\W/g, '');
  const item = name === 'object' ? { type: 'object', additionalProperties: true } : refTo(name);
  if (response === name) return item;
  if (response === `${name}[]`) return { type: 'array', items: item };
  // The array of one element in which a GET returns a resource (specification, "Webhook delivery envelope").
  const one = { type: 'array', items: item, minItems: 1, maxItems: 1 };
  return retry === 'idempotency-key' ? { ...one, 'x-assumed': 'createResponse' } : one;
}

/** Returns the usual call of an operation without a body: with an id, or with the query of a list. */
function exampleOf(name: OperationName, { path }: Operation): string {
  const [namespace] = name.split('.');
  return `client.${name}(${path.includes('{id}') ? `await id('${namespace}')` : path.endsWith('/index') ? '{ per_page: 2 }' : ''})`;
}
