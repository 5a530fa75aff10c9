import { onTestFinished, vi } from 'vitest';

/**
 * Hides `node:crypto` from the package, so that webhooks are signed by WebCrypto, as in browsers. Returns a function
 * that ends it; it ends with the running test, too.
 */
export function hideNodeCrypto(): () => void {
  const { getBuiltinModule } = process;
  const hidden = vi.spyOn(process, 'getBuiltinModule');
  hidden.mockImplementation((id: string) => (id === 'node:crypto' ? undefined : getBuiltinModule(id)));
  const restore = (): void => hidden.mockRestore();
  onTestFinished(restore);
  return restore;
}
