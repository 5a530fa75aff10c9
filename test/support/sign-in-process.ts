import { rmSync } from 'node:fs';
import { memoryTokenStore } from '../../src/index.ts';
import { signInWithBrowser } from '../../src/node/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';

/** Signs in by a browser; in a directory that is gone, where there is a second argument: no program starts there. */
const [, , baseUrl = '', directory] = process.argv;
if (directory !== undefined) {
  process.chdir(directory);
  rmSync(directory, { recursive: true });
}
const redirectUri = 'http://127.0.0.1/callback';
const oauth = createOAuthClient({ baseUrl, redirectUri, store: memoryTokenStore() });
await signInWithBrowser(oauth);
console.log(`signed in: ${(await oauth.get()).length > 0}`);
