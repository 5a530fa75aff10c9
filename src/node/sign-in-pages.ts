import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { AudienceError } from '../errors/audience-error.ts';

/** What the browser is answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
  main { width: min(32rem, 100% - 3rem); overflow-wrap: anywhere; }
  h1 { font-size: 1.25rem; margin: 0 0 .5rem; } p { margin: 0; }`;

/** The address of a page holds the code: no cache keeps it, no script sees it, no other site is told. */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

function page(status: number, title: string, text: string): Answer {
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

const plain = (status: number, body: string, headers = {}): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body,
});

/** The end of a sign-in. */
export const SIGNED_IN = page(200, 'You are signed in.', 'You may close this window.');

/** For an address that no sign-in of this process waits for. */
export const UNKNOWN = page(
  400,
  'This address belongs to no sign-in.',
  'It is out of date, or was not made here. Go on with the latest address that you were given.',
);

export const NOT_FOUND = plain(404, 'There is nothing here.\n');
export const NOT_ALLOWED = plain(405, 'Only GET is answered here.\n', { allow: 'GET' });

/** For a sign-in that failed; the errors of this package hold no secrets. */
export function failed(error: unknown): Answer {
  const reason = AudienceError.isInstance(error) ? error.message : 'The program that asked for it tells why.';
  return page(400, 'The sign-in failed.', reason);
}

/** Answers, and waits until the answer is on its way or nobody is there to take it. */
export async function send(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  response.writeHead(status, { ...headers, connection: 'close' }).end(body);
  await finished(response).catch(() => {});
}
