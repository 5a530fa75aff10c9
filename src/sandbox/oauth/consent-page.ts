import type { AuthorizationRequest } from './authorization.ts';

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { display: grid; min-height: 100vh; margin: 0; place-items: center; }
  form { display: grid; gap: 1rem; width: min(22rem, 100% - 3rem); }
  h1 { font-size: 1.25rem; margin: 0; } p { margin: 0; }
  label { display: grid; gap: .25rem; } input, button { font: inherit; padding: .5rem .75rem; }
  footer { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; } [role=alert] { color: light-dark(#b00, #f99); }`;

/** Returns the consent page. In place of a console session, it asks for the account's credentials. */
export function consentPage({ client, redirectUri }: AuthorizationRequest, problem?: string): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Allow access?</title>
<style>${STYLE}
</style>
<form method="post">
  <h1>Allow ${escapeHtml(client.name)} to use your account?</h1>
  <p>It requests the scope <code>mcp</code> and continues at ${escapeHtml(new URL(redirectUri).host)}.</p>
  ${problem === undefined ? '' : `<p role="alert">${escapeHtml(problem)}</p>`}
  <label>Email <input name="email" type="email" autocomplete="username" required autofocus></label>
  <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
  <footer>
    <button name="decision" value="allow">Allow</button>
    <button name="decision" value="deny" formnovalidate>Deny</button>
  </footer>
</form>
</html>
`;
  const headers = { 'content-type': 'text/html; charset=utf-8', 'x-frame-options': 'DENY' };
  return new Response(html, { status: problem === undefined ? 200 : 401, headers });
}
