import { isOperationName, type operations } from '../spec/operations.ts';
import type { CheckReport } from './check.ts';
import type { Finding, FindingState } from './findings.ts';

/** Groups of the report, in their order, with their titles. */
const GROUPS: readonly (readonly [FindingState, string])[] = [
  ['differs', 'Differs'],
  ['confirmed', 'Confirmed'],
  ['likely', 'Likely, not exercised'],
  ['not-checked', 'Not checked'],
];

/** A row of the report; its override is a setting of the contract, or code to complete and paste. */
export type ReportRow = Finding;

/** Returns the findings, differences first, each with its override. */
export const rowsOf = ({ findings }: CheckReport): readonly ReportRow[] =>
  GROUPS.flatMap(([state]) => findings.filter((finding) => finding.state === state)).map((finding) => {
    const override = finding.override ?? overrideOf(finding);
    return { ...finding, ...(override !== undefined && { override }) };
  });

/** Returns the report as lines for people. */
export function linesOf(report: CheckReport, emphasize: (title: string) => string): readonly string[] {
  const rows = rowsOf(report);
  const width = Math.max(...rows.map(({ id }) => id.length));
  const { requests, stopped } = report;
  return [
    ...GROUPS.flatMap(([state, title]) => {
      const group = rows.filter((row) => row.state === state);
      if (group.length === 0) return [];
      const lines = group.flatMap(({ id, evidence, override }) => [
        `  ${id.padEnd(width)}  ${evidence}`,
        ...(override ?? '').split('\n').flatMap((line) => (line === '' ? [] : [`  ${' '.repeat(width)}  ${line}`])),
      ]);
      return [emphasize(`${title} (${group.length})`), ...lines, ''];
    }),
    ...(stopped ? [`The check ended early: ${stopped.reason}`] : []),
    `${requests.read} reads and ${requests.write} writes were sent.`,
    'The report holds nothing of the account. A path that the service publishes may name you: read it before sharing.',
  ];
}

/** Overrides that need a function, by the finding that needs them: code to complete. */
const FUNCTIONS: Readonly<Record<string, (value: unknown) => string>> = {
  'usage.yearmonth': (format) =>
    `operations: { 'usage.get': { query: ({ yearmonth, ...query }) => ({ ...query, yearmonth: /* ${format ?? 'its format'} */ yearmonth }) } }`,
  'usage.build_budget': () =>
    `operations: { 'usage.get': { data: (usage) => ({ ...usage, build_budget: { hour: { limit: …, used: … }, day: { limit: …, used: … } } }) } }`,
  'uploads.reservation': () =>
    `operations: { 'uploads.reserve': { data: (data) => ({ reference: data.…, url: data.…, expires_at: data.… }) } }`,
  'uploads.put': () => `client.uploads.upload({ …, headers: { … } })`,
  'time-zone': () => `operations: { '…': { data: (data) => ({ ...data, created_at: /* Y-m-d H:i:s */ … }) } }`,
};

/** Returns how to adapt the package to a difference; `undefined` if it holds, or nothing is known. */
function overrideOf({ id, state, value }: Finding): string | undefined {
  if (state !== 'differs' && !(state === 'likely' && value !== undefined)) return undefined;
  const [kind = '', name = ''] = id.split(':');
  if (kind === 'path' && isOperationName(name)) return pathOverride(name, value);
  if (kind === 'data') return json('operations', { [name]: { data: value } });
  if (kind === 'idempotency') return json('operations', { [name]: { retry: 'never' } });
  if (kind === 'body') {
    const fields = Array.isArray(value) ? value.join(', ') : '…';
    return `operations: { '${name}': { body: (body) => ({ ...body, /* ${fields} */ }) } }`;
  }
  if (id === 'paging') return json('paging', value);
  if (id === 'page-size') return `paging: { …, "maxSize": ${value} }`;
  if (id === 'waits.via') return json('waits', { via: value });
  if (id === 'statuses') return json('statuses', value);
  if (id === 'request-id-header') return json('requestIdHeader', value);
  if (id === 'time-zone' && value !== 'ISO 8601') return json('serverTimeZone', value);
  return FUNCTIONS[id]?.(value);
}

const json = (key: string, value: unknown): string => `${key}: ${JSON.stringify(value)}`;

function pathOverride(name: keyof typeof operations, value: unknown): string {
  return value === undefined ? `operations: { '${name}': { path: '…' } }` : json('operations', { [name]: value });
}
