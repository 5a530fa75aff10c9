import type { Context } from 'hono';
import type { Env } from '../http/access.ts';
import { Sessions } from '../sessions.ts';

/**
 * The operators of the sandbox. Over HTTP, a client with the token of the run. In process, any code that can call the
 * console.
 */
export class Operators {
  /** Sessions of browsers that have opened the printed address, by the token of its run. */
  readonly #sessions = new Map<string, Sessions>();

  /** Returns whether a request comes from an operator: with the token as a bearer token, or from a browser that had it. */
  has({ env: { consoleToken }, req }: Context<Env>): boolean {
    if (consoleToken === undefined || req.header('authorization') === `Bearer ${consoleToken}`) return true;
    return this.#sessions.get(consoleToken)?.find(req.raw) !== undefined;
  }

  /** Starts a session if a request has the token in its address; returns its `Set-Cookie` header. */
  open({ env: { consoleToken }, req }: Context<Env>): string | undefined {
    if (consoleToken === undefined || req.query('token') !== consoleToken) return undefined;
    const sessions = this.#sessions.get(consoleToken) ?? new Sessions('operator');
    this.#sessions.set(consoleToken, sessions);
    return sessions.start('operator', req.raw);
  }
}
