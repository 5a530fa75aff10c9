/** Returns an address or a path without the slashes at its end. A regular expression takes quadratic time for many. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === '/') end--;
  return address.slice(0, end);
}
