import { expression, literal } from '../admin/call-source.ts';
import { hideFields, isSecret } from './redact-request.ts';
import type { Concealer } from './request-source.ts';

/** Credentials of the sandbox itself, which a recorded test needs: they are valid nowhere else. */
const OWN =
  /^(?:password|current|token|token_type_hint|code|code_verifier|refresh_token|access_token|client_secret|signature)$/;

const isPartner = (name: string): boolean => isSecret(name) && !OWN.test(name);

/**
 * Replaces credentials of other services, such as a delivery partner, with placeholders, and `Authorization` values with constants.
 * Equal credentials get the same replacement, so that the test repeats them as the session did.
 */
export class TestSecrets implements Concealer {
  readonly #placeholders = new Map<string, string>();
  /** Names of constants, by the value of an `Authorization` header. */
  readonly #authorizations = new Map<string, string>();

  field(name: string, value: unknown): string | undefined {
    // An empty value is not a credential: the service refuses it.
    if (!isPartner(name) || value === '' || value === null) return undefined;
    return nameIn(this.#placeholders, JSON.stringify(value), 'credential-');
  }

  header(name: string, value: string): string | object | undefined {
    if (name === 'authorization') return expression(nameIn(this.#authorizations, value, 'authorization'));
    return isSecret(name) ? undefined : value;
  }

  text(text: string): string {
    return hideFields(text, isPartner);
  }

  constants(): string {
    return [...this.#authorizations].map(([value, name]) => `  const ${name} = ${literal(value)};\n`).join('');
  }
}

function nameIn(names: Map<string, string>, value: string, prefix: string): string {
  const name = names.get(value) ?? `${prefix}${names.size + 1}`;
  names.set(value, name);
  return name;
}
