import { readFileSync } from 'node:fs';
import { isOperationName, type OperationName, operations } from '../src/spec/operations.ts';
import { withTable } from './page-tables.ts';

/**
 * The page that describes all assumptions. A row with an id is about the contract: the OpenAPI document marks where it
 * applies with `x-assumed`.
 */
const PAGE = 'docs/assumptions.md';
const ROW = /^\| <a id="(\w+)"><\/a>(.+?) \| (.+?) \| /gm;
const PARAGRAPH = /^<a id="(\w+)"><\/a>(.+)$/gm;

const page = readFileSync(PAGE, 'utf8');
const texts: ReadonlyMap<string, string> = new Map([
  ...[...page.matchAll(PARAGRAPH)].map(([, id = '', text = '']) => [id, text] as const),
  ...[...page.matchAll(ROW)].map(([, id = '', about, assumed]) => [id, `${about}: ${assumed}.`] as const),
]);

/** Returns what `x-assumed` says of each assumption about the contract. */
export const assumptionTexts = (): readonly string[] => [...texts.values()];

/** Returns a part of the document whose `x-assumed` has the texts of the assumptions that it names. */
export function withAssumptions(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withAssumptions);
  if (typeof part !== 'object' || part === null) return part;
  const fields = Object.entries(part).map(([name, value]) => [
    name,
    name === 'x-assumed' ? [value].flat().map(textOf).join(' ') : withAssumptions(value),
  ]);
  return Object.fromEntries(fields);
}

function textOf(id: unknown): string {
  const text = texts.get(String(id));
  if (text === undefined) throw new Error(`${PAGE} has no row with the id "${id}".`);
  return text;
}

/** How `check` finds out about operations that it does not judge by the rule of {@link checkOf}. */
const CHECKED: Readonly<Partial<Record<OperationName, string>>> = {
  'webhooks.list': 'reads, at the beginning of the check',
  'usage.get': 'reads, at the beginning of the check',
  'projects.create': '`--write`: creates a project',
  'projects.delete': '`--write`: deletes the created project',
  'uploads.reserve': '`--write`: reserves an upload',
  'estimates.get': 'never, because no list shows the ids of estimates',
  'reference.list': 'never, because the specification names no table',
};

/** Returns how `check` finds out whether method and path of an operation are right. */
function checkOf(name: OperationName): string {
  return CHECKED[name] ?? (operations[name].method === 'GET' ? 'reads' : 'never');
}

/** Returns the page with the table of all operations. */
export function assumptionsPage(): string {
  const rows = Object.keys(operations)
    .filter(isOperationName)
    .map((name) => {
      const { method, path, bucket, retry, startsJob, documented } = operations[name];
      const shown = documented ? 'shown' : '**assumed**';
      return [`\`${name}\``, `\`${method} ${path}\``, bucket, retry, startsJob ? 'yes' : '', shown, checkOf(name)];
    });
  const columns = ['operation', 'request', 'bucket', 'retry', 'starts a job', 'specification', 'check'];
  return withTable(PAGE, 'operations', columns, rows);
}
