import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { AudienceError, textOf } from '../errors/audience-error.ts';

/** A response to the browser. */
export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
  main { width: min(32rem, 100% - 3rem); overflow-wrap: anywhere; }
  h1 { font-size: 1.25rem; margin: 0 0 .5rem; } p { margin: 0; }`;

/**
 * Headers that protect the URL of the page, which contains the authorization code, from caches, scripts and other
 * sites.
 */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

function page(status: number, title: string, text: string): Page {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${STYLE}
</style>
<main>
  <h1>${escapeHtml(title)}</h1>
  <p>${escapeHtml(text)}</p>
</main>
</html>
`;
  return { status, headers: HEADERS, body };
}

const plain = (status: number, body: string, headers = {}): Page => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body,
});

export const SIGNED_IN = page(200, 'You are signed in.', 'You may close this window.');

/** Page for a callback whose `state` belongs to no pending sign-in. */
export const UNKNOWN_SIGN_IN = page(
  400,
  'No sign-in is waiting for this page.',
  'The sign-in has expired, or another program has sent you here. Open the address that the program printed last.',
);

export const NOT_FOUND = plain(404, 'Not found.\n');
export const NOT_ALLOWED = plain(405, 'Only GET is allowed.\n', { allow: 'GET' });

/** Returns a page that shows the message and the advice of an error of this package. Other messages could contain secrets. */
export function failedPage(error: unknown): Page {
  const reason = AudienceError.isInstance(error)
    ? textOf(error)
    : 'The program that started the sign-in shows the reason.';
  return page(400, 'The sign-in failed.', reason);
}

/** Sends a page. Resolves when the page is sent or the connection is closed. */
export async function sendPage(response: ServerResponse, { status, headers, body }: Page): Promise<void> {
  response.writeHead(status, { ...headers, connection: 'close' }).end(body);
  await finished(response).catch(() => {});
}
