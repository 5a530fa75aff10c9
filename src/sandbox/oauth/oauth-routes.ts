import type { Context, Hono } from 'hono';
import { type Env, refuse } from '../http/access.ts';
import { isSameOrigin } from '../http/middleware.ts';
import { NestingError, readBody, readForm } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import type { AccountRecord } from '../state.ts';
import { checkAuthorization, denyAuthorization, grantAuthorization, readAuthorization } from './authorization.ts';
import { CLIENT_AUTHENTICATION, GRANT_TYPES, INVALID_METADATA, registerClient, SCOPE } from './client-registration.ts';
import { consentLoginPage, consentPage, openAgain } from './consent-page.ts';
import { OAuthRequestError, oauthJson } from './oauth-request-error.ts';
import { authenticateClient, exchangeTokens, revokeOAuthToken } from './token-endpoint.ts';

/** Paths of the OAuth endpoints (specification, "OAuth (for the MCP server)"). */
const PATHS = {
  register: '/oauth/register',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
} as const;

/** Path of the protected resource metadata (RFC 9728). */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const SERVER_METADATA = '/.well-known/oauth-authorization-server';

/** Adds the routes of the OAuth endpoints and of both discovery documents. */
export function oauthRoutes(app: Hono<Env>, service: Service): void {
  const authenticate = (context: Context<Env>, form: URLSearchParams) =>
    authenticateClient(service, form, context.req.header('authorization'));

  app.get(RESOURCE_METADATA, (context) => oauthJson(200, resourceMetadata(service, new URL(context.req.url).origin)));
  app.get(SERVER_METADATA, (context) => oauthJson(200, serverMetadata(new URL(context.req.url).origin)));
  app.post(PATHS.register, async (context) => {
    const body = await readBody(context).catch((error: unknown) => {
      throw error instanceof NestingError ? new OAuthRequestError(INVALID_METADATA, error.message) : error;
    });
    return oauthJson(201, registerClient(service, body ?? {}));
  });
  app.on(['GET', 'POST'], PATHS.authorize, (context) => authorize(service, context));
  app.post(PATHS.token, async (context) => {
    const form = await readForm(context);
    return oauthJson(200, await exchangeTokens(service, authenticate(context, form), form));
  });
  app.post(PATHS.revoke, async (context) => {
    const form = await readForm(context);
    const client = authenticate(context, form);
    const token = form.get('token');
    if (!token) throw new OAuthRequestError('invalid_request', 'The `token` parameter is required (RFC 7009, 2.1).');
    revokeOAuthToken(service, client, token);
    return new Response(null, { status: 200 });
  });
}

/** Shows the login page, then the consent page, and processes the user's decision. */
async function authorize(service: Service, context: Context<Env>): Promise<Response> {
  const { state, sessions } = service;
  const request = readAuthorization(service, context.req.url);
  try {
    checkAuthorization(request);
    const session = state.accounts.get(sessions.find(context.req.raw) ?? '');
    if (session) context.set('account', session);
    if (context.req.method === 'GET') {
      if (session) return consentPage(request, session.email);
      const isFirst = !request.query.has('again') && context.req.header('sec-fetch-site') === 'cross-site';
      return isFirst ? openAgain(context.req.url) : consentLoginPage(request);
    }
    const form = await readForm(context);
    if (form.get('decision') === 'deny')
      throw new OAuthRequestError('access_denied', 'The owner of the account refused access.');
    if (form.get('decision') === 'switch' && isSameOrigin(context)) return consentLoginPage(request);
    // Ignore the session of a form from another origin: the browser may have added the session cookie (CSRF).
    const ofSession = isSameOrigin(context) ? session : undefined;
    const account = form.has('email') ? findAccount(service, form) : ofSession;
    if (!account || (form.get('decision') !== 'allow' && !isSameOrigin(context))) {
      const problem = account ? 'Submit the form on this page.' : 'These credentials do not match our records.';
      return refuse(context, problem, consentLoginPage(request, problem, form.get('email') ?? ''));
    }
    context.set('account', account);
    if (form.get('decision') === 'allow') return context.redirect(grantAuthorization(service, request, account), 303);
    context.header('set-cookie', sessions.startOnly(account.email, context.req.raw));
    return context.redirect(context.req.url, 303);
  } catch (error) {
    if (error instanceof OAuthRequestError) return context.redirect(denyAuthorization(request, error), 303);
    throw error;
  }
}

function findAccount({ state }: Service, form: URLSearchParams): AccountRecord | undefined {
  const account = state.accounts.get(form.get('email') ?? '');
  return account?.password === form.get('password') ? account : undefined;
}

/** Returns the protected resource metadata of the MCP endpoint (RFC 9728). */
function resourceMetadata({ operations }: Service, origin: string): object {
  return {
    resource: `${origin}${operations['mcp.send'].path}`,
    authorization_servers: [origin],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ['header'],
  };
}

/** Returns the authorization server metadata (RFC 8414). */
function serverMetadata(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}${PATHS.authorize}`,
    token_endpoint: `${origin}${PATHS.token}`,
    registration_endpoint: `${origin}${PATHS.register}`,
    revocation_endpoint: `${origin}${PATHS.revoke}`,
    scopes_supported: [SCOPE],
    response_types_supported: ['code'],
    grant_types_supported: GRANT_TYPES,
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}
