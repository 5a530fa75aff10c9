import { html, raw } from 'hono/html';
import type { AuthorizationRequest } from './authorization.ts';

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
  form { display: grid; gap: 1rem; width: min(22rem, 100% - 3rem); overflow-wrap: anywhere; }
  h1 { font-size: 1.25rem; margin: 0; } p { margin: 0; }
  label { display: grid; gap: .25rem; } input, button { font: inherit; padding: .5rem .75rem; }
  footer { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; } [role=alert] { color: light-dark(#b00, #f99); }`;

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

function page(title: string, form: ReturnType<typeof html>, status = 200): Response {
  const document = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>${raw(STYLE)}
</style>
<main><form method="post">
  <h1>${title}</h1>
  ${form}
</form></main>
</html>
`;
  return new Response(String(document), { status, headers: HEADERS });
}

/** Returns the consent page for the account that has logged in. */
export function consentPage({ client, redirectUri }: AuthorizationRequest, email: string): Response {
  return page(
    `Allow ${client.name} to use your account?`,
    html`<p>It requests the scope <code>mcp</code> for ${email} and continues at ${new URL(redirectUri).host}.</p>
  <footer>
    <button name="decision" value="allow">Allow</button>
    <button name="decision" value="deny">Deny</button>
  </footer>`,
  );
}

/** Returns the page that asks to log in first. */
export function consentLoginPage({ client }: AuthorizationRequest, problem?: string): Response {
  return page(
    'Log in',
    html`<p>${client.name} asks for access to your account.</p>
  ${problem === undefined ? '' : html`<p role="alert">${problem}</p>`}
  <label>Email <input name="email" type="email" autocomplete="username" required autofocus></label>
  <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
  <footer>
    <button>Log in</button>
    <button name="decision" value="deny" formnovalidate>Cancel</button>
  </footer>`,
    problem === undefined ? 200 : 401,
  );
}

/**
 * Returns a page that opens the address again: a browser that comes from another site leaves out the cookie of the session, and
 * sends it with the next request.
 */
export function openAgain(url: string): Response {
  const again = new URL(url);
  again.searchParams.set('again', '1');
  const target = `${again.pathname}${again.search}`;
  const document = html`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Log in</title><meta http-equiv="refresh" content="0; url=${target}"><p><a href="${target}">Continue</a></p></html>`;
  return new Response(String(document), { headers: HEADERS });
}
