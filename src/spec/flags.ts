/** Fields of an audience that the service writes as `1`, `0` or a boolean. */
export const AUDIENCE_FLAGS: readonly string[] = ['is_activation_allowed'];

/** Makes the flags of a resource booleans, as its type says. */
export function normalizeFlags(resource: Record<string, unknown>, flags: readonly string[]): void {
  for (const flag of flags) if (resource[flag] === 1 || resource[flag] === 0) resource[flag] = resource[flag] === 1;
}
