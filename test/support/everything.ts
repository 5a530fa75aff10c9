/** Returns everything that can be seen of a value as a string: messages, stacks, causes, own properties, JSON. */
export function everything(value: unknown, depth = 0): string {
  if (depth > 8 || value === null || typeof value !== 'object') return String(value);
  const own = Reflect.ownKeys(value).map((key) => {
    const shown = Reflect.get(value, key);
    return `${String(key)}: ${typeof shown === 'function' ? '' : everything(shown, depth + 1)}`;
  });
  const more = value instanceof Headers ? JSON.stringify([...value]) : '';
  return `${String(value)} ${JSON.stringify(value)} ${more} ${own.join('\n')}`;
}
