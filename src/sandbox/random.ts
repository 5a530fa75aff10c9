/** Random numbers that a seed decides: two sandboxes with one seed behave alike. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** Letters and digits. */
  text(length: number): string;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A generator for a seed: a linear congruence of 48 bits, top bits used. */
export function createRandom(seed: number): Random {
  const modulus = 2n ** 48n;
  let state = (BigInt(Math.trunc(seed)) * 0x9e3779b97f4an + 0xbn) % modulus;
  if (state < 0n) state += modulus;
  const next = (): number => {
    state = (state * 0x5deece66dn + 0xbn) % modulus;
    return Number(state >> 16n) / 2 ** 32;
  };
  return {
    next,
    text: (length) => Array.from({ length }, () => ALPHABET.charAt(Math.floor(next() * ALPHABET.length))).join(''),
  };
}
