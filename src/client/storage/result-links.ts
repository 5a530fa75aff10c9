import { AudienceError } from '../../errors/audience-error.ts';
import { abortable } from '../../util/abort.ts';
import { isServerRuntime } from '../../util/runtime.ts';
import type { RequestOptions, Settings } from '../http/request-options.ts';
import { requestToken } from '../http/request-token.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import type { Transport } from '../http/transport.ts';
import type { Transfer } from './transfer.ts';

/** Maximum number of redirects from a link to its file. */
const MAX_REDIRECTS = 10;

/** Statuses that redirect a GET request. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Returns whether a link is on the origin of the service, which is the only origin that may receive the token. */
const isOwn = ({ origin }: URL, { baseUrl }: Pick<Settings, 'baseUrl'>): boolean => origin === new URL(baseUrl).origin;

/**
 * Returns the target of a redirect. Returns `undefined` for a target that is not an http(s) address, and for http after
 * https.
 */
function redirectTarget({ status, headers }: Response, from: URL): URL | undefined {
  const location = REDIRECTS.has(status) ? headers.get('location') : null;
  if (location === null || !URL.canParse(location, from)) return undefined;
  const target = new URL(location, from);
  return target.protocol === 'https:' || target.protocol === from.protocol ? target : undefined;
}

interface LinkRequest {
  readonly link: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns whether the caller accepts a response other than 2xx. */
  accepts(response: Response): boolean;
}

/** Requests a link, with the token and the redirects that the contract allows. Rejects for a status other than 2xx. */
export async function requestLink(
  transfer: Transfer,
  { transport, options }: { readonly transport: Transport; readonly options: Pick<RequestOptions, 'token'> },
  { link, headers, accepts }: LinkRequest,
): Promise<Response> {
  const { settings } = transfer;
  const { redirect = false, bearer = false } = settings.results;
  transfer.url = link;
  transfer.bearer =
    bearer && isOwn(link, settings) ? (options.token ?? (await tokenFor(transfer, transport))) : undefined;
  for (let left = redirect ? MAX_REDIRECTS : 0; ; left--) {
    const { url, bearer, fetch } = transfer;
    const authorization = bearer !== undefined && { authorization: `Bearer ${bearer}` };
    const sent = { ...headers, ...authorization };
    const init = { ...settings.fetchOptions, credentials: 'omit', headers: sent, redirect: 'manual' } as const;
    const response = await transfer.exchange(
      (signal) => abortable(fetch(url.href, { ...init, signal }), signal),
      (received) => accepts(received) || (left > 0 && redirectTarget(received, url) !== undefined),
    );
    const target = redirectTarget(response, url);
    if (!target) return response;
    response.body?.cancel().catch(() => {});
    transfer.url = target;
    // Never send the token to another origin, or after a redirect back from one.
    if (!isOwn(target, settings)) transfer.bearer = undefined;
  }
}

/** Returns the token of the client. If the token source fails, the transfer is not retried. */
async function tokenFor(
  { scope: { signal }, settings: { redactor } }: Transfer,
  { state }: Transport,
): Promise<string> {
  try {
    return await requestToken(state, { kind: 'general', signal, redactor });
  } catch (error) {
    throw AudienceError.isInstance(error) ? new AttemptFailure({ kind: 'final', outcome: 'unknown' }, error) : error;
  }
}

/** Returns whether a response is an HTML page instead of the file, such as a sign-in page. */
export function isPage({ headers }: Response, { pathname }: URL): boolean {
  const isHtml = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(headers.get('content-type') ?? '');
  const isFile = /^\s*attachment\b/i.test(headers.get('content-disposition') ?? '') || /\.x?html?$/i.test(pathname);
  return isHtml && !isFile;
}

/** Returns advice for the response to a request for a link, based on its status. */
export function linkAdvice(
  status: number,
  link: URL,
  { baseUrl, results: { redirect, bearer } }: Pick<Settings, 'baseUrl' | 'results'>,
): string | undefined {
  if (status === 0 || REDIRECTS.has(status)) {
    if (!redirect) return 'If the redirect leads to the file, set `results: { redirect: true }` in the contract.';
    return isServerRuntime
      ? `The client follows up to ${MAX_REDIRECTS} redirects to http(s) addresses, but none from https to http.`
      : 'In a browser, the client cannot follow redirects of downloads.';
  }
  if (![200, 401, 403].includes(status)) return undefined;
  if (!bearer && isOwn(link, { baseUrl }))
    return 'The link is on the origin of the service. If it needs the token, set `results: { bearer: true }` in the contract.';
  return status === 200
    ? 'The link may have expired, or may require a sign-in. Ask the operator of the service.'
    : undefined;
}
