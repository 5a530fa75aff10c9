import type { Context, Hono } from 'hono';
import type { OperationName } from '../../spec/operations.ts';
import { formatExpiry } from '../clock.ts';
import { type Env, limitByAddress, refuse } from '../http/access.ts';
import { addRoute } from '../http/contract-adapter.ts';
import { readBody } from '../http/request-body.ts';
import { failure, invalid, success } from '../http/responses.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, TokenKind } from '../state.ts';
import { issueToken, listTokens, revokeTokens } from '../tokens.ts';
import { isEmail } from './body-fields.ts';

/** Handles a request whose body contains credentials. Responds with an error if the credentials are wrong. */
const withAccount =
  (service: Service, handle: (account: AccountRecord) => Response) =>
  async (context: Context<Env>): Promise<Response> => {
    const { email, password } = (await readBody(context)) ?? {};
    const errors = {
      ...(!isEmail(email) && { email: ['The email must be a valid email address.'] }),
      ...(!(typeof password === 'string' && password !== '') && { password: ['The password field is required.'] }),
    };
    if (!isEmail(email) || Object.keys(errors).length > 0) return invalid(errors);
    const account = service.state.accounts.get(email);
    // Assumed: the response to wrong credentials is not specified.
    if (!account || account.password !== password) {
      const why = account ? `The password of ${email} is wrong` : `No account has the email address ${email}`;
      return refuse(context, why, failure(401, 'These credentials do not match our records.'));
    }
    context.set('account', account);
    return handle(account);
  };

/** Adds the routes that log in, and issue and revoke tokens (specification, "Credential exchange"). */
export function authRoutes(app: Hono<Env>, service: Service): void {
  const login = withAccount(service, (account) =>
    success({ token: issueToken(service, account, 'login').value }, 'Token generated successfully.'),
  );
  addRoute(app, service, 'auth.login', limitByAddress(service, 'login'), login);
  tokenRoutes(app, service, 'api', ['auth.createApiToken', 'auth.revokeApiTokens']);
  tokenRoutes(app, service, 'mcp', ['auth.createMcpToken', 'auth.revokeMcpTokens']);
}

function tokenRoutes(
  app: Hono<Env>,
  service: Service,
  kind: TokenKind,
  [createName, revokeName]: readonly [OperationName, OperationName],
): void {
  const name = kind.toUpperCase();
  const create = withAccount(service, (account) => {
    const max = service.limits.activeTokens;
    if (listTokens(service, account, kind).length >= max) {
      const message = `The limit of ${max} active ${name} tokens is reached. Revoke existing tokens via ${service.operations[revokeName].path}.`;
      return invalid({ token: [message] }, message);
    }
    const { value, expiresAt } = issueToken(service, account, kind);
    return success({ token: value, expires_at: formatExpiry(expiresAt) }, `${name} token generated successfully.`);
  });
  const revoke = withAccount(service, (account) =>
    success({ revoked: revokeTokens(service, account, kind) }, `${name} tokens revoked successfully.`),
  );
  addRoute(app, service, createName, limitByAddress(service, 'mint'), create);
  addRoute(app, service, revokeName, limitByAddress(service, 'mint'), revoke);
}
