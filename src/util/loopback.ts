const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether an address leads to this machine: what goes there cannot be read on the way. */
export function isThisMachine({ hostname }: URL): boolean {
  return LOOPBACK.test(hostname);
}
