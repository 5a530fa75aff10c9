import { hideFields, isSecret } from './redact-request.ts';

/** Credentials of the sandbox itself, which a recorded test needs: they are valid nowhere else. */
const OWN =
  /^(?:password|current|token|token_type_hint|code|code_verifier|refresh_token|access_token|client_secret|signature)$/;

const isPartner = (name: string): boolean => isSecret(name) && !OWN.test(name);

/**
 * Replaces credentials of others, such as a delivery partner, with placeholders. Equal credentials get equal
 * placeholders, so that a test also repeats equal credentials.
 */
export class PartnerSecrets {
  readonly #placeholders = new Map<string, string>();

  #placeholder(value: unknown): string {
    const key = JSON.stringify(value);
    const placeholder = this.#placeholders.get(key) ?? `credential ${this.#placeholders.size + 1}`;
    this.#placeholders.set(key, placeholder);
    return placeholder;
  }

  /** Returns a body with placeholders; a JSON body without credentials stays as it is, byte for byte. */
  hideInBody(body: string): string {
    try {
      const shown = JSON.stringify(JSON.parse(body, (name, field: unknown) => this.#hide(name, field)));
      return shown === JSON.stringify(JSON.parse(body)) ? body : shown;
    } catch {
      return hideFields(this.hideInQuery(body), isPartner);
    }
  }

  #hide(name: string, field: unknown): unknown {
    // An empty value is not a credential, and is refused.
    if (isPartner(name) && field !== '' && field !== null) return this.#placeholder(field);
    return typeof field === 'string' ? hideFields(field, isPartner) : field;
  }

  /** Returns a query or a form with placeholders. */
  hideInQuery(query: string): string {
    return query.replaceAll(/(^|[?&])([^=&?]+)=([^&]*)/g, (pair, before: string, name: string, value: string) =>
      isPartner(name) ? `${before}${name}=${encodeURIComponent(this.#placeholder(value))}` : pair,
    );
  }
}
