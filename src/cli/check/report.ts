import { foundTexts } from './against.ts';
import type { CheckReport } from './check.ts';
import type { Finding } from './findings.ts';
import { overridesPath, verdictOf } from './verdict.ts';

/** Returns the findings, differences first. */
export const rowsOf = ({ findings }: CheckReport): readonly Finding[] =>
  (['differs', 'confirmed', 'likely', 'not-checked'] as const).flatMap((state) =>
    findings.filter((finding) => finding.state === state),
  );

/** Returns what adapts the package to a difference as one text: a setting of the contract, or code to complete. */
function overrideOf({ setting = {}, codes = [] }: Finding): string {
  const texts = [
    ...Object.entries(setting).map(([key, value]) => `${key}: ${JSON.stringify(value, undefined, 1)}`),
    ...codes.map(({ operation, members }) => `operations: { '${operation}': { ${members} } }`),
  ];
  return texts.join(', ').replace(/\s+/g, ' ');
}

/** How a report is printed. */
export interface ReportStyle {
  /** Columns of a line. */
  readonly width: number;
  /** True if each assumption is printed, not only those that differ. */
  readonly isAll?: boolean | undefined;
  /** File with the settings. */
  readonly file?: string | undefined;
  emphasize(title: string): string;
}

/** Returns the report as lines for people: what it means, what differs, what to do, and how much was checked. */
export function linesOf(report: CheckReport, { width, isAll, file, emphasize }: ReportStyle): readonly string[] {
  const rows = rowsOf(report);
  const differing = rows.filter(({ state }) => state === 'differs');
  const [assumed, actual] = [foundTexts({}), foundTexts(report.contract)];
  const block = (finding: Finding): readonly string[] => {
    const { id, setting, evidence } = finding;
    // The evidence of a path has both requests.
    const isChange = setting && assumed[id] !== undefined && !id.startsWith('path:');
    const change = isChange ? `${assumed[id]} → ${actual[id]}` : '';
    const texts = [change, evidence, overrideOf(finding)].filter((text) => text !== '');
    return [`  ${emphasize(id)}`, ...texts.flatMap((text) => wrapped(text, width, '    '))];
  };
  return [
    ...wrapped(verdictOf(report, file), width).map(emphasize),
    '',
    ...(differing.length > 0 ? [`Assumed → found (${differing.length})`, ...differing.flatMap(block), ''] : []),
    ...nextSteps(report, file).flatMap((text) => wrapped(`Next: ${text}`, width)),
    '',
    ...rows
      .filter(({ state }) => isAll && state !== 'differs')
      .flatMap(({ state, id, evidence }) => wrapped(`${state}  ${id}: ${evidence}`, width, '  ')),
    ...countsOf(report).flatMap((text) => wrapped(text, width)),
  ];
}

/** Returns what to do after a check. */
function nextSteps({ findings, stopped, level }: CheckReport, file: string | undefined): readonly string[] {
  const differing = findings.filter(({ state }) => state === 'differs');
  const hasCode = differing.some(({ codes }) => codes !== undefined);
  const isPathOpen = differing.some(({ id, breaks }) => breaks && id.startsWith('path:'));
  const ask = 'ask the operator of the service how to send what does not work, and add it to `operations` of the file.';
  return [
    ...(stopped ? ['run the check again.'] : []),
    ...(isPathOpen ? [ask] : []),
    ...(differing.length > 0 && file === undefined ? ['write the settings to a file, with --out service.json.'] : []),
    ...(hasCode
      ? [`complete the code in ${overridesPath(file ?? 'service.json')}, and pass it as \`operations\`.`]
      : []),
    ...(level === 'read' ? ['--write checks what reading cannot show.'] : []),
  ];
}

/** Returns how much was checked: open assumptions by their reasons. */
function countsOf({ findings, requests }: CheckReport): readonly string[] {
  const of = (state: Finding['state']): readonly Finding[] => findings.filter((finding) => finding.state === state);
  const reasons = Map.groupBy(of('not-checked'), ({ evidence }) => evidence);
  return [
    `${of('confirmed').length} confirmed, ${of('likely').length} likely, ${of('not-checked').length} not checked:`,
    ...[...reasons].map(([reason, { length }]) => `- ${length}: ${reason}`),
    `${requests.read} reads and ${requests.write} writes were sent. --all prints each assumption.`,
    'The report contains nothing from the account, except that a redirect target may contain your name: read it before you share it.',
  ];
}

/** Breaks a text into lines of a width, between words. */
function wrapped(text: string, width: number, indent = ''): readonly string[] {
  const lines = [indent];
  for (const word of text.split(/ (?=\S)/)) {
    const line = lines.at(-1) ?? '';
    if (line.trim() === '') lines[lines.length - 1] = line + word;
    else if (line.length + word.length < width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${indent}${indent === '    ' ? '' : '  '}${word}`);
  }
  return lines;
}
