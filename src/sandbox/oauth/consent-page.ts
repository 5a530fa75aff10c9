import { html, raw } from 'hono/html';
import type { AuthorizationRequest } from './authorization.ts';

/** Styles in the design of the console, whose stylesheet these pages do not load. */
const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; color: light-dark(#15191f, #e8ebf0); background: light-dark(#f6f7f9, #0b0d11); }
  body { display: grid; min-height: 100dvh; margin: 0; place-items: center; }
  main { width: min(25rem, 100% - 2rem); padding: 1.5rem; box-sizing: border-box; overflow-wrap: anywhere; background: light-dark(#fff, #14181e); border: 1px solid light-dark(#e1e5eb, #2a313c); border-radius: 12px; }
  form { display: grid; gap: 1rem; } h1 { font-size: 1.25rem; line-height: 1.75rem; margin: 0; } p { margin: 0; }
  .brand { display: flex; gap: .5rem; align-items: center; font-weight: 600; margin-bottom: 1rem; } .brand::before { content: ""; width: 1.125rem; height: 1.125rem; box-sizing: border-box; border-radius: 50%; border: .3rem solid light-dark(#4540c4, #aab0ff); }
  small { color: light-dark(#545d6b, #a5aebb); }
  label { display: grid; gap: .25rem; font-weight: 500; }
  input, button { font: inherit; min-height: 2.5rem; padding: .375rem .75rem; box-sizing: border-box; color: inherit; background: light-dark(#fff, #101318); border: 1px solid light-dark(#838b98, #6d7787); border-radius: 6px; }
  button { font-weight: 500; cursor: pointer; } .primary { color: light-dark(#fff, #15163d); background: light-dark(#4540c4, #aab0ff); border-color: transparent; }
  .quiet { border-color: transparent; background: none; color: light-dark(#4540c4, #aab0ff); }
  :focus-visible { outline: 2px solid light-dark(#4540c4, #aab0ff); outline-offset: 2px; }
  footer { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; } .quiet { grid-column: 1 / -1; }
  [role=alert] { padding: .5rem .75rem; border: 1px solid; border-left-width: 4px; border-radius: 6px; color: light-dark(#b3231b, #ff9a91); background: light-dark(#fdeae8, #3a1815); }`;

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
<main><p class="brand">Sandbox</p><form method="post">
  <h1>${title}</h1>
  ${form}
</form></main>
</html>
`;
  return new Response(String(document), { status, headers: HEADERS });
}

export function consentPage({ client, redirectUri }: AuthorizationRequest, email: string): Response {
  return page(
    `Allow ${client.name} to use your account?`,
    html`<p>The client requests the scope <code>mcp</code> for ${email}, and continues at ${new URL(redirectUri).host}.</p>
  <footer>
    <button class="primary" name="decision" value="allow">Allow</button>
    <button name="decision" value="deny">Deny</button>
    <button class="quiet" name="decision" value="switch">Use another account</button>
  </footer>
  <small>You can revoke the access in the console, under Accounts and tokens.</small>`,
  );
}

export function consentLoginPage({ client }: AuthorizationRequest, problem?: string, email = ''): Response {
  return page(
    'Log in',
    html`<p>${client.name} asks for access to your account.</p>
  ${problem === undefined ? '' : html`<p role="alert">${problem}</p>`}
  <label>Email <input name="email" type="email" autocomplete="username" value="${email}" required${email === '' ? html` autofocus` : ''}></label>
  <label>Password <input name="password" type="password" autocomplete="current-password" required${email === '' ? '' : html` autofocus`}></label>
  <footer>
    <button class="primary">Log in</button>
    <button name="decision" value="deny" formnovalidate>Cancel</button>
  </footer>`,
    problem === undefined ? 200 : 401,
  );
}

/**
 * Returns a page that opens the URL again. A browser that follows a link from another site omits the session cookie in
 * the first request, and sends it in the second.
 */
export function openAgain(url: string): Response {
  const again = new URL(url);
  again.searchParams.set('again', '1');
  const target = `${again.pathname}${again.search}`;
  const document = html`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Log in</title><meta http-equiv="refresh" content="0; url=${target}"><p><a href="${target}">Continue</a></p></html>`;
  return new Response(String(document), { headers: HEADERS });
}
