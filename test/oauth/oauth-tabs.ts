import type { ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { bundleScript } from '../support/bundled-script.ts';
import type { EngineBrowser, Tab } from '../support/engines.ts';
import { serve } from '../support/file-server.ts';
import { type OidcServer, startOidc } from '../support/oidc-server.ts';
import type { OAuthPage } from './oauth-page.ts';

declare global {
  /** Of a page that runs `oauth-page.ts`. */
  var page: OAuthPage;
}

/** An application in a page, with an authorization server that revokes the grant if a refresh token is reused. */
export interface TabsScene {
  readonly oidc: OidcServer;
  /** Address of the application, `/`; of an empty page, `/empty`; of the application without storage, `/sandboxed`. */
  readonly url: string;
  /** Opens the application in a tab, which closes after the test. */
  open(): Promise<Tab>;
  /** Signs in: the tab leaves the application, and returns to another page of it. */
  signIn(tab: Tab): Promise<void>;
  /** Returns the statuses of the refreshes so far. */
  refreshes(): number[];
}

/** Serves an application that runs `oauth-page.ts`, and the service with its authorization server on another origin. */
export async function startTabs(browser: EngineBrowser): Promise<TabsScene> {
  const oidc = await startOidc();
  const script = await bundleScript('test/oauth/oauth-page.ts');
  const html = `<!doctype html><html data-service="${oidc.url}"><script src="/page.js"></script>`;
  const waiting: ServerResponse[] = [];
  const { url } = await serve((request, response) => {
    if (request.url === '/page.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
    if (request.url === '/expiry') {
      if (waiting.push(response) < 2) return;
      // The responses arrive at the same time, so that both tabs refresh at the same time.
      oidc.endAccessTokens();
      return waiting.splice(0).forEach((each) => void each.end());
    }
    const sandbox = request.url === '/sandboxed' && { 'content-security-policy': 'sandbox allow-scripts' };
    response.writeHead(200, { 'content-type': 'text/html', ...sandbox });
    response.end(request.url === '/empty' ? '<!doctype html>' : html);
  });
  return {
    oidc,
    url,
    async open() {
      const tab = await browser.newTab();
      onTestFinished(() => tab.close().catch(() => {}));
      await tab.goto(url);
      return tab;
    },
    async signIn(tab) {
      const authorization = await tab.run(() => page.oauth.authorize());
      await tab.goto(authorization.url);
      await tab.run(() => page.oauth.callback(location.href));
    },
    refreshes: () => oidc.requests.filter(({ grantType }) => grantType === 'refresh_token').map(({ status }) => status),
  };
}
