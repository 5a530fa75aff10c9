import type { Context, Hono } from 'hono';
import { operations } from '../../spec/operations.ts';
import { offsetTime } from '../clock.ts';
import { accept, type Env, meteredByAddress } from '../http/access.ts';
import { readBody } from '../http/request-body.ts';
import { invalid, refusal, success } from '../http/responses.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, TokenKind } from '../state.ts';
import { issueToken, revokeTokens, tokensOf } from '../tokens.ts';
import { isEmail } from './body-fields.ts';

/** The account of the credentials in a body, or the refusal. */
async function authenticate(service: Service, context: Context<Env>): Promise<AccountRecord | Response> {
  const { email, password } = (await readBody(context)) ?? {};
  const errors = {
    ...(!isEmail(email) && { email: ['The email must be a valid email address.'] }),
    ...(!(typeof password === 'string' && password !== '') && { password: ['The password field is required.'] }),
  };
  if (!isEmail(email) || Object.keys(errors).length > 0) return invalid(errors);
  const account = service.state.accounts.get(email);
  // Status and body for wrong credentials are not specified: 401 in the envelope is the simplest choice.
  if (!account || account.password !== password) return refusal(401, 'These credentials do not match our records.');
  context.set('account', account);
  return account;
}

/** Login, mint and revoke ("Credential exchange"). */
export function authRoutes(app: Hono<Env>, service: Service): void {
  app.post(operations['auth.login'].path, accept, meteredByAddress(service, 'login'), async (context) => {
    const account = await authenticate(service, context);
    if (account instanceof Response) return account;
    return success({ token: issueToken(service, account, 'login').value }, 'Token generated successfully.');
  });
  mintRoutes(app, service, 'api', operations['auth.createApiToken'].path, operations['auth.revokeApiTokens'].path);
  mintRoutes(app, service, 'mcp', operations['auth.createMcpToken'].path, operations['auth.revokeMcpTokens'].path);
}

function mintRoutes(app: Hono<Env>, service: Service, kind: TokenKind, mintPath: string, revokePath: string): void {
  const name = kind.toUpperCase();
  const cap = service.limits.activeTokens;

  app.post(mintPath, accept, meteredByAddress(service, 'mint'), async (context) => {
    const account = await authenticate(service, context);
    if (account instanceof Response) return account;
    if (tokensOf(service, account, kind).length >= cap) {
      const message = `The limit of ${cap} active ${name} tokens is reached. Revoke existing tokens via ${revokePath}.`;
      return invalid({ token: [message] }, message);
    }
    const { value, expiresAt } = issueToken(service, account, kind);
    const expires_at = offsetTime(expiresAt);
    return success({ token: value, expires_at }, `${name} token generated successfully.`);
  });

  app.post(revokePath, accept, meteredByAddress(service, 'mint'), async (context) => {
    const account = await authenticate(service, context);
    if (account instanceof Response) return account;
    return success({ revoked: revokeTokens(service, account, kind) }, `${name} tokens revoked successfully.`);
  });
}
