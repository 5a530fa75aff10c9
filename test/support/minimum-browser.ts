import { inject } from 'vitest';

/** Makes this browser the oldest that is supported: deletes every built-in that not all supported browsers have. */
for (const name of inject('newerBuiltIns')) {
  const [owner = '', member] = name.split('.');
  const { [owner]: type } = globalThis as unknown as Record<string, { readonly prototype?: object } | undefined>;
  if (member === undefined) Reflect.deleteProperty(globalThis, owner);
  else {
    // The data name symbols as in `@@asyncIterator`, and do not distinguish static members from others.
    const key = member.startsWith('@@') ? Object(Symbol)[member.slice(2)] : member;
    for (const target of [type, type?.prototype]) if (target && key !== undefined) Reflect.deleteProperty(target, key);
  }
}
