export { type Change, type Comparison, compare } from './against.ts';
export { type CheckOptions, type CheckReport, checkService } from './check.ts';
export type { CheckLevel, Finding, FindingState } from './findings.ts';
export type { CheckEvent } from './probe.ts';
export { linesOf, rowsOf } from './report.ts';
export { mergeFindings } from './settings.ts';
export { overridesOf, overridesPath, verdictOf } from './verdict.ts';
