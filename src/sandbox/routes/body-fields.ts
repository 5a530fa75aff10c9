import type { AudienceDataset } from '../../spec/audience.ts';
import { isObject, type JsonObject } from '../http/request-body.ts';
import type { FieldErrors } from '../http/responses.ts';
import { DAY, LOOKBACK_DAYS } from '../service-limits.ts';
import type { AccountRecord } from '../state.ts';
import { findTable } from './reference-data.ts';

/** Returns whether the service accepts a value as an email address: one `@`, no white space. */
export const isEmail = (value: unknown): value is string =>
  typeof value === 'string' && /^[^\s@]+@[^\s@]+$/.test(value);

/** Returns a positive integer from a number or from decimal digits. Returns `undefined` for any other value. */
function readPositiveInteger(value: unknown): number | undefined {
  const digits = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return /^[1-9]\d*$/.test(digits) ? Number(digits) : undefined;
}

export function findById<T>(resources: ReadonlyMap<number, T>, value: unknown): T | undefined {
  const id = readPositiveInteger(value);
  return id === undefined ? undefined : resources.get(id);
}

export const creatorOf = ({ email }: AccountRecord): { readonly name: string; readonly email: string } => ({
  name: email.split('@')[0] ?? email,
  email,
});

/** Returns the message for an id that is missing, or that no resource of the account has. */
export const missingText = (label: string, id: unknown): string =>
  id === undefined ? `The ${label} id is required.` : `The account has no ${label} ${JSON.stringify(id)}.`;

/** Returns the message for a resource whose job has not completed. */
export const incompleteText = (label: string, { status }: { readonly status: { id: number; name: string } }): string =>
  `The ${label} must be completed, but its status is ${status.id} ${status.name}.`;

/** Reads an optional string. Adds an error for any other value. */
export function readName(body: JsonObject, field: string, fallback: string, errors: FieldErrors): string {
  const value = body[field] ?? fallback;
  if (typeof value === 'string') return value;
  errors[field] = [`The ${field} must be a string.`];
  return fallback;
}

/** Reads the optional project, which must exist (specification, "Rules known for creates", rule 1). */
export function readProject(
  { project_id }: JsonObject,
  account: AccountRecord,
  errors: FieldErrors,
): JsonObject | null {
  if (project_id === undefined || project_id === null) return null;
  const project = findById(account.projects, project_id);
  if (!project) errors.project_id = [missingText('project', project_id)];
  return project ?? null;
}

/** Returns whether a value is an existing day as `YYYY-MM-DD`. */
function isDate(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/** Returns the fields of a dataset. Adds missing or invalid fields to `errors`. */
function readDataset(value: unknown, path: string, errors: FieldErrors): AudienceDataset | undefined {
  const { analysis_type, start_date, end_date } = isObject(value) ? value : {};
  if (typeof analysis_type !== 'string') errors[`${path}.analysis_type`] = ['The analysis type must be a string.'];
  if (!isDate(start_date)) errors[`${path}.start_date`] = ['The start date must be a date in the form YYYY-MM-DD.'];
  if (!isDate(end_date)) errors[`${path}.end_date`] = ['The end date must be a date in the form YYYY-MM-DD.'];
  if (typeof analysis_type !== 'string' || !isDate(start_date) || !isDate(end_date)) return undefined;
  return { ...Object(value), analysis_type, start_date, end_date };
}

/**
 * Reads the datasets. WebDomain datasets must not start before the 45-day window (specification, "Rules known for
 * creates", rule 3).
 */
export function readDatasets({ dataset = [] }: JsonObject, now: number, errors: FieldErrors): AudienceDataset[] {
  if (!Array.isArray(dataset)) {
    errors.dataset = ['The dataset must be an array.'];
    return [];
  }
  const datasets = dataset.map((value, index) => readDataset(value, `dataset.${index}`, errors));
  const earliest = new Date(now - LOOKBACK_DAYS * DAY).toISOString().slice(0, 10);
  for (const [index, entry] of datasets.entries()) {
    if (entry?.analysis_type !== 'WebDomain' || entry.start_date >= earliest) continue;
    errors[`dataset.${index}.start_date`] = [
      `The start date must be within the last ${LOOKBACK_DAYS} days: ${earliest} or later.`,
    ];
  }
  return datasets.filter((entry) => entry !== undefined);
}

/**
 * Checks the filters: ids or names of rows, by reference table (assumed). The tables and the rows must exist
 * (specification, "Rules known for creates", rule 1).
 */
export function checkFilters({ filters }: JsonObject, errors: FieldErrors): void {
  if (filters === undefined || filters === null) return;
  if (!isObject(filters)) {
    errors.filters = ['The filters must map reference tables to values.'];
    return;
  }
  for (const [table, values] of Object.entries(filters)) {
    const rows = findTable(table);
    const exists = (value: unknown): boolean => rows?.some(({ id, name }) => id === value || name === value) ?? false;
    const missing = (Array.isArray(values) ? values : [values]).filter((value) => !exists(value));
    if (!rows) errors[`filters.${table}`] = [`The reference table ${table} does not exist.`];
    else if (missing.length > 0)
      errors[`filters.${table}`] = [
        `The table ${table} does not contain the filter values ${JSON.stringify(missing)}.`,
      ];
  }
}
