/** Maximum number of redirects: enough for two pages, each of which redirects once or twice. */
const MOST_REDIRECTS = 20;

/**
 * Follows redirects as a browser with cookies does. Returns the first URL that begins with `target`, without fetching
 * it.
 */
export async function walkRedirects(start: string | URL, target: string): Promise<string> {
  const cookies = new CookieJar();
  let url = new URL(start);
  for (let redirects = 0; redirects < MOST_REDIRECTS; redirects++) {
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie: cookies.for(url) } });
    cookies.take(answer);
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${url.pathname} answered ${answer.status}: ${await answer.text()}`);
    await answer.body?.cancel();
    url = new URL(location, url);
    if (url.href.startsWith(target)) return url.href;
  }
  throw new Error(`No redirect led to ${target}.`);
}

/** Cookies of one host, by path and name. */
class CookieJar {
  readonly #cookies = new Map<string, { readonly path: string; readonly pair: string }>();

  take(answer: Response): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const path = attributes.find((text) => text.startsWith('path='))?.slice('path='.length) ?? '/';
      const [name, value] = pair.split('=', 2);
      const key = `${path} ${name}`;
      if (value === '') this.#cookies.delete(key);
      else this.#cookies.set(key, { path, pair });
    }
  }

  for({ pathname }: URL): string {
    const sent = [...this.#cookies.values()].filter(({ path }) => pathname.startsWith(path));
    return sent.map(({ pair }) => pair).join('; ');
  }
}
