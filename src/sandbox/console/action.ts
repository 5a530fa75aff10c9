import type { SandboxAccount } from '../admin/account-admin.ts';
import type { Call } from '../admin/call-source.ts';
import type { SandboxAdmin } from '../admin/sandbox-admin.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import type { ConsoleContext } from './console-context.ts';
import type { HappenedAt } from './history.ts';

export interface Subject {
  readonly sandbox: SandboxAdmin;
  /** The account that the `account` field names. @default the first account */
  readonly account: SandboxAccount;
  readonly console: ConsoleContext;
}

export interface Outcome {
  /** The fields that were sent, without the credentials in them. */
  readonly fields: JsonObject;
  readonly service: Service;
  readonly args: readonly unknown[];
  /** Result of `run`, or of the call if `run` returns nothing. */
  readonly result: unknown;
  readonly happened: readonly HappenedAt[];
}

/** An action of the console, which is a JSON endpoint and, on a page, a form. `fields` come from the request's body. */
export interface Action {
  readonly method: 'POST' | 'DELETE';
  readonly path: string;
  /** Names of the allowed fields besides `account`. If not set, the method that the action calls checks the names. */
  readonly fields: readonly string[] | undefined;
  /** Returns the call of the sandbox's method that a program would make. */
  call?(subject: Subject, fields: JsonObject, service: Service): Call;
  /** Does what the sandbox has no method for, after the call. */
  run?(subject: Subject, fields: JsonObject): unknown;
  /** Returns the body of the response. @default the fields that were sent */
  respond?(outcome: Outcome): object;
  notice(outcome: Outcome): string;
}

export function action(
  endpoint: `${Action['method']} /${string}`,
  fields: readonly string[] | undefined,
  does: Omit<Action, 'method' | 'path' | 'fields'>,
): Action {
  const [method, path = ''] = endpoint.split(' ');
  return { method: method === 'DELETE' ? method : 'POST', path, fields, ...does };
}

export class FieldError extends Error {
  override readonly name = 'FieldError';
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

/** Thrown if the object of an action does not exist, such as a running job or a recorded request. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

function typed<T>(type: string, fields: JsonObject, name: string): T {
  const value = fields[name];
  if (typeof value === type) return value as T;
  throw new FieldError(`\`${name}\` must be a ${type}, not ${typeof value}.`, name);
}

export const number = (fields: JsonObject, name: string): number => typed('number', fields, name);
export const string = (fields: JsonObject, name: string): string => typed('string', fields, name);

export const optional = <T>(
  read: (fields: JsonObject, name: string) => T,
  fields: JsonObject,
  name: string,
): T | undefined => (fields[name] === undefined ? undefined : read(fields, name));
