const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns whether the host of a URL is this machine. */
export function isThisMachine({ hostname }: Pick<URL, 'hostname'>): boolean {
  return LOOPBACK.test(hostname);
}

/** Returns whether a URL has this host name or IP address. Treats all loopback names as the same host. */
export function isSameHost(name: string, url: URL): boolean {
  const hostname = name.includes(':') ? `[${name}]` : name.toLowerCase();
  return hostname === url.hostname || (isThisMachine({ hostname }) && isThisMachine(url));
}

/** Hosts for which redirect URIs may use http (specification, "OAuth 2.1", rule 3). */
export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Returns whether a redirect URI with this host may use http. */
export function isLoopbackRedirect({ hostname }: URL): boolean {
  return LOOPBACK_HOSTS.includes(hostname);
}
