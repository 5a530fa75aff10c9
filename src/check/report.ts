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
    const { setting, override = setting && textOf(setting) } = finding;
    return { ...finding, ...(override !== undefined && { override }) };
  });

const textOf = (setting: object): string =>
  Object.entries(setting)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ');

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
        ...(override === undefined ? [] : [`  ${' '.repeat(width)}  ${override}`]),
      ]);
      return [emphasize(`${title} (${group.length})`), ...lines, ''];
    }),
    ...(stopped ? [`The check ended early: ${stopped.reason}`] : []),
    `${requests.read} reads and ${requests.write} writes were sent.`,
    'The report holds nothing of the account. A path that the service publishes may name you: read it before sharing.',
  ];
}
