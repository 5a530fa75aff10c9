import { createServer, request as sendRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { listenForTest } from './loopback.ts';

/** Pages of a server, which report what goes wrong in them. */
export interface WatchedPages {
  /** Origin under which they are to be opened. */
  readonly origin: string;
  /** Errors that nothing handled, files that could not be loaded, and violations of the content security policy. */
  readonly problems: readonly string[];
}

const PATH = '/page-problems';

/** Runs in each page before its own scripts. */
function reportProblems(path: string): void {
  const report = (problem: unknown): void => {
    navigator.sendBeacon(path, `${location.pathname}: ${problem}`);
  };
  const onError = ({ target, message }: Partial<ErrorEvent>): void =>
    report(target instanceof Element ? `cannot load ${target.outerHTML}` : message);
  // Files that cannot be loaded cause events that do not bubble.
  addEventListener('error', onError, true);
  addEventListener('unhandledrejection', ({ reason }) => report(reason));
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sourceFile }) =>
    report(`${effectiveDirective} forbids ${blockedURI} in ${sourceFile}`),
  );
}

/** Serves the pages of another origin under a new one for the running test, each with a script that reports problems. */
export async function watchPages(target: string): Promise<WatchedPages> {
  const problems: string[] = [];
  const server = createServer((request, response) => {
    const { method, url = '/' } = request;
    if (url === PATH) {
      if (method === 'POST') void text(request).then((problem) => problems.push(problem));
      const type = { 'content-type': 'text/javascript' };
      return response.writeHead(200, type).end(`(${reportProblems})(${JSON.stringify(PATH)})`);
    }
    const headers = { ...request.headers, 'accept-encoding': 'identity' };
    const forwarded = sendRequest(new URL(url, target), { method, headers }, async (received) => {
      const { statusCode = 502, headers: fields } = received;
      const isPage = fields['content-type']?.startsWith('text/html');
      if (!isPage) return received.pipe(response.writeHead(statusCode, fields));
      const { 'content-length': _, ...rest } = fields;
      const page = await text(received);
      return response.writeHead(statusCode, rest).end(page.replace('<head>', `<head><script src="${PATH}"></script>`));
    });
    forwarded.on('error', () => response.destroy());
    response.once('close', () => forwarded.destroy());
    return request.pipe(forwarded);
  });
  return { origin: await listenForTest(server), problems };
}
