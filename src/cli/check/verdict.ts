import { isOperationName } from '../../spec/operations.ts';
import type { CheckReport } from './check.ts';
import type { Finding } from './findings.ts';
import { SNAKE_CASED } from './reads.ts';

/** Subjects of sentences about operations, by their verbs. */
const SUBJECTS: Readonly<Record<string, string>> = {
  list: 'Lists of',
  get: 'Reads of',
  create: 'Creates of',
  delete: 'Deletes of',
  reserve: 'Reservations of',
};

/** Returns what a finding is about, as the subject of a sentence. */
function subjectOf({ id }: Finding): string {
  const [what = '', name = ''] = id.split(':');
  const [namespace = '', verb = ''] = name.split('.');
  if (isOperationName(name) && SUBJECTS[verb] !== undefined) return `${SUBJECTS[verb]} ${namespace}`;
  if (what === 'shape') return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}s`;
  return id === 'paging' ? 'Further pages of lists' : `\`${id}\``;
}

/** Returns one of several texts and how many more there are. */
function firstOf(texts: readonly string[]): string {
  const [first = '', second, ...others] = texts;
  if (second === undefined) return first;
  return others.length === 0 ? `${first} and ${second.toLowerCase()}` : `${first} and ${others.length + 1} more`;
}

/** Returns the number of assumptions that only a higher level checks, as a sentence; empty if there are none. */
function openText({ findings }: CheckReport): string {
  const write = findings.filter(({ needs }) => needs === 'write').length;
  return write > 0 ? ` ${write} assumptions need --write.` : '';
}

/** Returns in one sentence or two what a report means for whoever uses the client. */
export function verdictOf(report: CheckReport, file?: string): string {
  const { findings, stopped, contract } = report;
  if (stopped) return `The check ended early: ${stopped.reason}`;
  const differing = findings.filter(({ state }) => state === 'differs');
  const broken = differing.filter(({ breaks }) => breaks === true);
  const [first] = broken;
  if (first) return `${firstOf(broken.map(subjectOf))} do not work here: ${first.evidence}`;
  const open = openText(report);
  if (differing.length === 0) return `Nothing differs.${open}`;
  const { $schema, checked, ...settings } = contract;
  const hasSettings = Object.keys(settings).length > 0;
  const hasCode = differing.some(({ codes }) => codes !== undefined);
  const means = [
    ...(hasSettings ? [file === undefined ? 'the settings that --out writes' : `\`--contract ${file}\``] : []),
    ...(hasCode ? [`the code in ${file === undefined ? 'the file beside them' : overridesPath(file)}`] : []),
  ].join(' and ');
  const subject = open === '' ? 'The client works' : 'The checked calls work';
  return means === '' ? `${subject} here, and something differs.${open}` : `${subject} here with ${means}.${open}`;
}

/** Returns the path of the file with the code, beside that with the settings: `service.overrides.ts`. */
export const overridesPath = (file: string): string => `${file.replace(/\.json$/, '')}.overrides.ts`;

/** Function of the code for what only its reader knows. */
const COMPLETE = [
  '/** Stands for what only you know: replace each call. */',
  'const complete = (what: string): never => {',
  "  throw new Error('Complete the overrides of the service: '.concat(what));",
  '};',
  '',
];

/** Function of the code for fields in camelCase. */
const SNAKE_CASE = [
  '/** Renames fields such as `createdAt` to `created_at`. */',
  'function snakeCased(value: unknown): unknown {',
  '  if (Array.isArray(value)) return value.map(snakeCased);',
  "  if (typeof value !== 'object' || value === null) return value;",
  "  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => '_'.concat(letter.toLowerCase()));",
  '  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [snake(name), snakeCased(inner)]));',
  '}',
  '',
];

/** Returns the code that differences need, as a module to complete; `undefined` if they need none. */
export function overridesOf({ findings }: CheckReport): string | undefined {
  const codes = findings.flatMap(({ codes = [], evidence }) => codes.map((code) => ({ ...code, evidence })));
  if (codes.length === 0) return undefined;
  const names = [...new Set(codes.map(({ operation }) => operation))];
  const overrides = names.flatMap((name) => [
    `  '${name}': {`,
    ...codes
      .filter(({ operation }) => operation === name)
      .flatMap(({ evidence, members }) => [`    // ${evidence}`, `    ${members},`]),
    '  },',
  ]);
  return [
    "import type { OperationOverrides } from 'audience-activation';",
    '',
    ...(codes.some(({ members }) => members.includes('complete(')) ? COMPLETE : []),
    ...(codes.some(({ members }) => members === SNAKE_CASED) ? SNAKE_CASE : []),
    '/** Overrides for differences that a contract cannot express. Pass them beside the contract: `new AudienceClient({ contract, operations })`. */',
    'export const operations: OperationOverrides = {',
    ...overrides,
    '};',
    '',
  ].join('\n');
}
