/** Returns a stream of uneven chunks that records whether it was cancelled. */
export function streamOf(bytes: Uint8Array, sizes: readonly number[] = [1, 70_000, 130_000]) {
  const state = { cancelled: false };
  let at = 0;
  let next = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      const chunk = bytes.subarray(at, at + (sizes[next++ % sizes.length] ?? 1));
      at += chunk.length;
      controller.enqueue(chunk);
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return { stream, state };
}

/** Returns bytes as a string, one character per byte. */
export const latin1 = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
