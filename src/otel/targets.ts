import { check } from '../errors/audience-error.ts';

/** The addresses that headers with trace context are sent to. */
export class Targets {
  readonly #targets: readonly (string | RegExp)[];

  /**
   * @param targets Origins, or patterns of addresses without query.
   * @throws {ConfigurationError} for a target that is neither.
   */
  constructor(targets: readonly (string | RegExp)[]) {
    check(Array.isArray(targets), '`propagate` must be a list of origins and regular expressions.');
    this.#targets = targets.map((target) => (target instanceof RegExp ? target : originOf(target)));
  }

  /** Returns whether an address is one of the targets. */
  includes(address: string | URL | Request): boolean {
    if (this.#targets.length === 0) return false;
    const { origin, pathname } = new URL(address instanceof Request ? address.url : address);
    return this.#targets.some((target) =>
      target instanceof RegExp ? `${origin}${pathname}`.search(target) >= 0 : origin === target,
    );
  }
}

function originOf(target: string): string {
  check(
    URL.canParse(target),
    '`propagate` must contain origins, such as "https://api.example.com", or regular expressions.',
  );
  return new URL(target).origin;
}
