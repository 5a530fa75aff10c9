import { check } from '../errors/audience-error.ts';
import { formatUrl } from '../util/input-checks.ts';

export class Targets {
  readonly #targets: readonly (string | RegExp)[];

  /**
   * @param targets Origins, or patterns that match URLs without query.
   * @throws {ConfigurationError} for any other target.
   */
  constructor(targets: readonly (string | RegExp)[]) {
    check(Array.isArray(targets), '`propagate` must be a list of origins and regular expressions.');
    this.#targets = targets.map((target) => (target instanceof RegExp ? target : originOf(target)));
  }

  includes(address: unknown): boolean {
    const text = address instanceof Request ? address.url : String(address);
    if (this.#targets.length === 0 || !URL.canParse(text)) return false;
    const { origin, pathname } = new URL(text);
    return this.#targets.some((target) =>
      target instanceof RegExp ? `${origin}${pathname}`.search(target) >= 0 : origin === target,
    );
  }
}

/** Returns an origin without a trailing slash. Throws for any other target. */
function originOf(target: unknown): string {
  const text = String(target);
  const { origin, href, protocol } = URL.canParse(text) ? new URL(text) : { origin: '', href: '', protocol: '' };
  const isOrigin = typeof target === 'string' && href === `${origin}/` && /^https?:$/.test(protocol);
  const expected = 'origins, such as "https://api.example.com", or regular expressions';
  check(isOrigin, `\`propagate\` must contain ${expected}, not ${formatUrl(target)}.`);
  return origin;
}
