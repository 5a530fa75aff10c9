import type { ServiceContract } from '../spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../spec/operations.ts';

export type Operations = Readonly<Record<OperationName, { readonly method: string; readonly path: string }>>;

export function operationsOf(contract: ServiceContract | undefined): Operations {
  const entries = Object.entries(operations).map(([name, { method, path }]) => {
    const other = isOperationName(name) ? contract?.operations?.[name] : undefined;
    return [name, { method: other?.method ?? method, path: other?.path ?? path }];
  });
  return Object.fromEntries(entries) as Operations; // the entries include every operation
}

/** Returns a function that converts the UTC timestamps in a value to a time zone. */
export function localTimesIn(timeZone = 'UTC'): (value: unknown) => unknown {
  if (timeZone === 'UTC') return (value) => value;
  // The Swedish format equals the format of the service: 2026-11-22 09:00:00.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const isTimestamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
  const shown = (name: string, value: unknown): unknown =>
    typeof value === 'string' && name.endsWith('_at') && isTimestamp.test(value)
      ? format.format(new Date(`${value.replace(' ', 'T')}Z`))
      : value;
  return (value) => JSON.parse(JSON.stringify(value), shown);
}
