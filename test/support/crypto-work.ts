/** Operations of WebCrypto in progress. They run in other threads, of which Node lists nothing. */
export interface CryptoWork {
  isRunning(): boolean;
  /** Restores the methods of WebCrypto. */
  end(): void;
}

const METHODS = ['digest', 'importKey', 'sign', 'verify'] as const;

/** Counts the operations of WebCrypto that begin from now on. */
export function watchCrypto(): CryptoWork {
  let running = 0;
  const { subtle } = crypto;
  const originals = METHODS.map((name) => [name, subtle[name]] as const);
  for (const [name, original] of originals) {
    const counted = async (...args: readonly unknown[]): Promise<unknown> => {
      running++;
      try {
        return await Reflect.apply(original, subtle, args);
      } finally {
        running--;
      }
    };
    Object.defineProperty(subtle, name, { value: counted, configurable: true, writable: true });
  }
  return {
    isRunning: () => running > 0,
    end: () => {
      for (const [name] of originals) Reflect.deleteProperty(subtle, name);
    },
  };
}
