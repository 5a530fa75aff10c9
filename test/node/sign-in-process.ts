import { memoryTokenStore } from '../../src/index.ts';
import { signInWithBrowser } from '../../src/node/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

/** Signs in with a browser, and exits only if no handle keeps the process alive. */
const [, , baseUrl = ''] = process.argv;
const redirectUri = 'http://127.0.0.1/callback';
const oauth = createOAuthClient({ baseUrl, redirectUri, store: memoryTokenStore() });
await signInWithBrowser(oauth);
console.log(`signed in: ${(await oauth.get()).length > 0}`);
