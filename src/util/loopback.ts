const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether a URL addresses this machine, so that nobody else can read the request. */
export function isThisMachine({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}
