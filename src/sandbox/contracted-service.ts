import type { ServiceContract } from '../spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../spec/operations.ts';

/** Method and path of each operation. */
export type Operations = Readonly<Record<OperationName, { readonly method: string; readonly path: string }>>;

export function operationsOf(contract: ServiceContract | undefined): Operations {
  const entries = Object.entries(operations).map(([name, { method, path }]) => {
    const other = isOperationName(name) ? contract?.operations?.[name] : undefined;
    return [name, { method: other?.method ?? method, path: other?.path ?? path }];
  });
  return Object.fromEntries(entries) as Operations; // it has every name of the table
}

/** Returns a function that shows the timestamps in a value, which are UTC, in a time zone. */
export function localTimesIn(timeZone = 'UTC'): (value: unknown) => unknown {
  if (timeZone === 'UTC') return (value) => value;
  // The Swedish format is the format of the service: 2026-11-22 09:00:00.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const isTimestamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
  const shown = (name: string, value: unknown): unknown =>
    typeof value === 'string' && name.endsWith('_at') && isTimestamp.test(value)
      ? format.format(new Date(`${value.replace(' ', 'T')}Z`))
      : value;
  return (value) => JSON.parse(JSON.stringify(value), shown);
}
