import type { AudienceDataset } from '../../schemas/audience.ts';
import { DAY, LOOKBACK_DAYS } from '../service-limits.ts';
import type { AccountRecord } from '../state.ts';
import { findTable } from './reference-data.ts';

/** Messages for each invalid field. */
export type Errors = Record<string, string[]>;

/** A JSON object as received. */
export type Body = Readonly<Record<string, unknown>>;

/** Whether a received value is a JSON object. */
export function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What the service takes for an email address: one `@`, no white space. */
export const isEmail = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value);

/** A number from 1, as a number or in digits; nothing for anything else. */
export function readCount(value: unknown): number | undefined {
  const digits = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return /^[1-9]\d*$/.test(digits) ? Number(digits) : undefined;
}

/** The row of a table that a value names by its id. */
export function findById<T>(table: ReadonlyMap<number, T>, value: unknown): T | undefined {
  const id = readCount(value);
  return id === undefined ? undefined : table.get(id);
}

/** Whoever creates a resource, as it shows them. */
export const creatorOf = ({ email }: AccountRecord): { readonly name: string; readonly email: string } => ({
  name: email.split('@')[0] ?? email,
  email,
});

/** A text field, which may be left out. */
export function readName(body: Body, field: string, fallback: string, errors: Errors): string {
  const value = body[field] ?? fallback;
  if (typeof value === 'string') return value;
  errors[field] = [`The ${field} must be a string.`];
  return fallback;
}

/** The project of a body; one that does not exist is a 422 ("Rules known for creates", rule 1). */
export function readProject({ project_id }: Body, account: AccountRecord, errors: Errors): Body | null {
  if (project_id === undefined || project_id === null) return null;
  const project = findById(account.projects, project_id);
  if (!project) errors.project_id = ['The selected project id is invalid.'];
  return project ?? null;
}

/** A day that there is, as `YYYY-MM-DD`. */
function isDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

function isDataset(value: unknown): value is AudienceDataset {
  return isBody(value) && typeof value.analysis_type === 'string' && [value.start_date, value.end_date].every(isDate);
}

/** Datasets of a body; WebDomain data reach back 45 days at most (rule 3). */
export function readDataset({ dataset = [] }: Body, now: number, errors: Errors): AudienceDataset[] {
  if (!Array.isArray(dataset) || !dataset.every(isDataset)) {
    errors.dataset = ['The dataset is invalid.'];
    return [];
  }
  const earliest = new Date(now - LOOKBACK_DAYS * DAY).toISOString().slice(0, 10);
  for (const [at, { analysis_type, start_date }] of dataset.entries()) {
    if (analysis_type !== 'WebDomain' || start_date >= earliest) continue;
    errors[`dataset.${at}.start_date`] = [`The start date must be within the last ${LOOKBACK_DAYS} days.`];
  }
  return dataset;
}

/** Filters map a look-up table to ids of its rows (assumed); one that does not exist is a 422 (rule 1). */
export function checkFilters({ filters }: Body, errors: Errors): void {
  if (filters === undefined || filters === null) return;
  if (!isBody(filters)) {
    errors.filters = ['The filters must map look-up tables to values.'];
    return;
  }
  for (const [table, values] of Object.entries(filters)) {
    const rows = findTable(table);
    const known = (value: unknown): boolean => rows?.some(({ id, name }) => id === value || name === value) ?? false;
    const all = Array.isArray(values) ? values : [values];
    if (!all.every(known)) errors[`filters.${table}`] = ['The selected filter value is invalid.'];
  }
}
