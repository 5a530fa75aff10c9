import type { Context, Hono } from 'hono';
import { operations } from '../../spec/operations.ts';
import type { Env } from '../http/access.ts';
import { fieldsOf, NestingError, readBody } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import { type AuthorizationRequest, checkAuthorization, consent, readAuthorization, refuse } from './authorization.ts';
import { CLIENT_AUTHENTICATION, GRANT_TYPES, INVALID_METADATA, registerClient, SCOPE } from './client-registration.ts';
import { consentPage } from './consent-page.ts';
import { OAuthRefusal, oauthJson } from './oauth-request-error.ts';
import { authenticateClient, exchange, revokeToken } from './token-endpoint.ts';

/** Paths of the specification, "OAuth (for the MCP server)". */
const PATHS = {
  register: '/oauth/register',
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
} as const;

/** Where the protected resource describes itself (RFC 9728). */
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const SERVER_METADATA = '/.well-known/oauth-authorization-server';

type Work = (context: Context<Env>) => Response | Promise<Response>;

/** Answers an OAuth error in its own shape. */
const guarded =
  (work: Work): Work =>
  async (context) => {
    try {
      return await work(context);
    } catch (error) {
      if (error instanceof OAuthRefusal) return error.toResponse();
      if (error instanceof NestingError) return new OAuthRefusal(INVALID_METADATA, error.message).toResponse();
      throw error;
    }
  };

/** The authorization server of the MCP endpoint, and both discovery documents. */
export function oauthRoutes(app: Hono<Env>, service: Service): void {
  app.get(RESOURCE_METADATA, (context) => oauthJson(200, resourceMetadata(new URL(context.req.url).origin)));
  app.get(SERVER_METADATA, (context) => oauthJson(200, serverMetadata(new URL(context.req.url).origin)));
  app.post(
    PATHS.register,
    guarded(async (context) => oauthJson(201, registerClient(service, (await readBody(context)) ?? {}))),
  );
  app.on(
    ['GET', 'POST'],
    PATHS.authorize,
    guarded(async (context) => authorize(service, context, readAuthorization(service, context.req.url))),
  );
  app.post(
    PATHS.token,
    guarded(async (context) => {
      const form = await fieldsOf(context);
      const client = authenticateClient(service, form, context.req.header('authorization'));
      return oauthJson(200, await exchange(service, client, form));
    }),
  );
  app.post(
    PATHS.revoke,
    guarded(async (context) => {
      const form = await fieldsOf(context);
      revokeToken(
        service,
        authenticateClient(service, form, context.req.header('authorization')),
        form.get('token') ?? '',
      );
      return new Response(null, { status: 200 });
    }),
  );
}

/** Shows the page of consent, or does what was decided on it. */
async function authorize(service: Service, context: Context<Env>, request: AuthorizationRequest): Promise<Response> {
  try {
    checkAuthorization(request);
    if (context.req.method === 'GET') return consentPage(request);
    const form = await fieldsOf(context);
    if (form.get('decision') !== 'allow') throw new OAuthRefusal('access_denied', 'The owner of the account refused.');
    const account = service.state.accounts.get(form.get('email') ?? '');
    if (!account || account.password !== form.get('password'))
      return consentPage(request, 'These credentials do not match our records.');
    context.set('account', account);
    return context.redirect(consent(service, request, account), 303);
  } catch (error) {
    if (error instanceof OAuthRefusal) return context.redirect(refuse(request, error), 303);
    throw error;
  }
}

/** What the MCP endpoint is, and who issues its tokens (RFC 9728). */
function resourceMetadata(origin: string): object {
  return {
    resource: `${origin}${operations['mcp.send'].path}`,
    authorization_servers: [origin],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ['header'],
  };
}

/** What the authorization server can do (RFC 8414). */
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
