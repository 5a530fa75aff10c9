import { operations } from '../../spec/operations.ts';
import type { CheckReport } from './check.ts';
import type { Finding } from './findings.ts';

const SUBJECTS: Readonly<Record<string, string>> = {
  list: 'Lists',
  get: 'Reads',
  create: 'Create requests',
  delete: 'Delete requests',
  reserve: 'Reservations',
};

/** Returns the subject of a sentence about a finding. */
const subjectOf = ({ id }: Finding): string =>
  id
    .replace(/^path:(\w+)\.(\w+)$/, (_, namespace, verb) => `${SUBJECTS[verb]} of ${namespace}`)
    .replace(/^shape:(\w+)$/, 'Reads of $1s')
    .replace(/^paging$/, 'Pages of lists');

/** Returns one or two sentences about the consequences of a report for users of the client. */
export function verdictOf({ findings, stopped, contract }: CheckReport, file?: string): string {
  if (stopped) return `The check ended early: ${stopped.reason}`;
  const differing = findings.filter(({ state }) => state === 'differs');
  const [first, ...others] = differing.filter(({ breaks }) => breaks);
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  if (first) return `${subjectOf(first)}${more} do not work here: ${first.evidence}`;
  const needs = findings.filter((finding) => finding.needs).length;
  const open = needs > 0 ? ` To check ${needs} more assumptions, pass --write.` : '';
  if (differing.length === 0) return `No checked assumption differs.${open}`;
  const { $schema, checked, ...settings } = contract;
  const means = [
    ...(Object.keys(settings).length > 0 ? [file ? `\`--contract ${file}\`` : 'the settings that --out writes'] : []),
    ...(overridesOf(findings) ? [`the code in ${overridesPath(file)}`] : []),
  ];
  return `The checked calls work here${means.length > 0 ? ` with ${means.join(' and ')}` : ', with differences'}.${open}`;
}

/** Returns the report as lines of text: the consequences, the differences, the next steps, and how much was checked. */
export function linesOf(report: CheckReport, file?: string, isAll = false): readonly string[] {
  const { findings, stopped, requests } = report;
  const {
    differs = [],
    confirmed = [],
    likely = [],
    'not-checked': open = [],
  } = Object.groupBy(findings, ({ state }) => state);
  const isPathMissing = differs.some(({ id, breaks }) => breaks && id.startsWith('path:'));
  const next = [
    stopped ? 'run the check again.' : '',
    isPathMissing
      ? 'ask the operator of the service for the path, and add the path to `operations` in the contract file.'
      : '',
    differs.length > 0 && !file ? 'write the settings to a file with --out service.json.' : '',
    overridesOf(findings) ? `pass \`operations\` from ${overridesPath(file)} to the client.` : '',
  ];
  return [
    verdictOf(report, file),
    '',
    ...(differs.length > 0 ? [`Assumed → found (${differs.length})`] : []),
    ...differs.flatMap(({ id, evidence, setting }) => [
      `  ${id}: ${evidence}`,
      ...(setting ? [`    ${JSON.stringify(setting)}`] : []),
    ]),
    ...(isAll ? [...confirmed, ...likely, ...open] : []).map(
      ({ state, id, evidence }) => `${state}  ${id}: ${evidence}`,
    ),
    ...next.filter((step) => step !== '').map((step) => `Next: ${step}`),
    `${confirmed.length} confirmed, ${likely.length} likely, ${open.length} not checked:`,
    ...[...Map.groupBy(open, ({ evidence }) => evidence)].map(([reason, { length }]) => `- ${length}: ${reason}`),
    `The check sent ${requests.read} reads and ${requests.write} writes.${isAll ? '' : ' To print each assumption, pass --all.'}`,
    'The report contains no data of the account, so you can share it.',
  ];
}

/** Returns the path for the overrides code, next to the contract file: `service.overrides.ts` for `service.json`. */
export const overridesPath = (file = 'service.json'): string => `${file.replace(/\.json$/, '')}.overrides.ts`;

const START = `import type { OperationOverrides } from 'audience-activation';

/** Renames fields such as \`createdAt\` to \`created_at\`. */
function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null) return value;
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => '_'.concat(letter.toLowerCase()));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [snake(name), snakeCased(inner)]));
}

/** Differences that a contract cannot express: \`new AudienceClient({ contract, operations })\`. */
export const operations: OperationOverrides = {
`;

/** Returns the code that fields in camelCase need, as a module; \`undefined\` without them. */
export function overridesOf(findings: readonly Finding[]): string | undefined {
  if (findings.every(({ id }) => id !== 'fields')) return undefined;
  const renamed = /^(?!webhooks|reference|auth).*\.(?:list|get|create)$/;
  const names = Object.keys(operations).filter((name) => renamed.test(name));
  return `${START}${names.map((name) => `  '${name}': { data: snakeCased },\n`).join('')}};\n`;
}
