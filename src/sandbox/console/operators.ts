import type { Context } from 'hono';
import type { Env } from '../http/access.ts';
import { Sessions } from '../sessions.ts';

export class Operators {
  /** Sessions of browsers that have opened the printed address. Their owner is the token of this run. */
  readonly #sessions = new Sessions('operator');

  /**
   * Returns whether a request comes from an operator: it has the token as a bearer token, or the cookie of a session.
   * In a console without a token, every request does.
   */
  has({ env: { consoleToken }, req }: Context<Env>): boolean {
    if (consoleToken === undefined || req.header('authorization') === `Bearer ${consoleToken}`) return true;
    return this.#sessions.find(req.raw) === consoleToken;
  }

  /** Starts a session if the address of a request contains the token. Returns the `Set-Cookie` header. */
  open({ env: { consoleToken }, req }: Context<Env>): string | undefined {
    if (consoleToken === undefined || req.query('token') !== consoleToken) return undefined;
    return this.#sessions.start(consoleToken, req.raw);
  }
}
