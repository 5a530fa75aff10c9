import type { SandboxAccount } from '../admin/account-admin.ts';
import type { SandboxAdmin } from '../admin/sandbox-admin.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import type { SandboxState } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';

/** The objects that an action works with. */
export interface Subject {
  readonly sandbox: SandboxAdmin;
  /** The account of the session, or the one that the field `account` names; by default the first one. */
  readonly account: SandboxAccount;
  /** The state when the recording began. */
  readonly state: SandboxState;
  readonly console: ConsoleContext;
}

/** An action of the console, which is a JSON endpoint and, on a page, a form. */
export interface Action {
  readonly method: 'POST' | 'DELETE';
  /** Path below the prefix of the endpoints. */
  readonly path: string;
  /** Names of the fields it takes; any other is refused. Without them, the method that it calls checks the names. */
  readonly fields?: readonly string[];
  /**
   * Set if it belongs to an account, whose owner may do it, too: to the account alone, or to a webhook endpoint or an event of
   * its organization, which the fields `id` and `event` name.
   */
  readonly subject?: 'account' | 'endpoint' | 'event';
  /**
   * Does the action by one call of the sandbox's own methods, which is its TypeScript, too. `fields` come from the
   * request's body: the methods check what is not checked here.
   */
  run(subject: Subject, fields: JsonObject, service: Service): unknown;
  /** Returns the response's body. @default the fields that were sent */
  respond?(result: unknown, fields: JsonObject, service: Service): object;
  /** Returns the result in words, for the notice on a page. */
  notice?(fields: JsonObject, service: Service, result: unknown): string;
}

/** Thrown for a field that an action cannot use. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
}

/** Thrown for an id that does not exist, or not for the account. */
export class NotFoundError extends Error {
  override readonly name = 'NotFoundError';
}

/** Returns a field that is a number. */
export function number(fields: JsonObject, name: string): number {
  const value = fields[name];
  if (typeof value === 'number') return value;
  throw new FieldError(`\`${name}\` must be a number.`);
}

/** Returns a field that is a string. */
export function string(fields: JsonObject, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new FieldError(`\`${name}\` must be a string.`);
}

/** Returns a field that may be left out. */
export const optional = <T>(
  read: (fields: JsonObject, name: string) => T,
  fields: JsonObject,
  name: string,
): T | undefined => (fields[name] === undefined ? undefined : read(fields, name));
