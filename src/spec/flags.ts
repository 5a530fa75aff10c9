/** Fields of an audience that the service writes as `1`, `0` or a boolean. */
export const AUDIENCE_FLAGS: readonly string[] = ['is_activation_allowed'];

/** Makes the flags of a resource booleans, as its type says. */
export function normalizeFlags(resource: object, flags: readonly string[]): void {
  for (const flag of flags) {
    const value: unknown = Reflect.get(resource, flag);
    if (value === 1 || value === 0) Reflect.set(resource, flag, value === 1);
  }
}
