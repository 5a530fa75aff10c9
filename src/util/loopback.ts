const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns whether a URL addresses this machine, so that nobody else can read the request. */
export function isThisMachine({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}

/** Hosts on which redirect URIs may use http ("OAuth 2.1", rule 3); the rest of 127.0.0.0/8 is not among them. */
export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Checks for a loopback host that redirect URIs may name. */
export function isLoopbackRedirect({ hostname }: URL): boolean {
  return LOOPBACK_HOSTS.includes(hostname);
}
