/** Runs `work` in virtual time. Browsers have none: there, it runs in real time. */
export async function quickly<T>(work: () => Promise<T>): Promise<T> {
  if (typeof document !== 'undefined') return work();
  const { isWorking, startVirtualTime } = await import('./virtual-time.ts');
  const time = startVirtualTime(isWorking);
  try {
    return await time.until(work());
  } finally {
    time.end();
  }
}
