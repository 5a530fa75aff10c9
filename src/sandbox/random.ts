/** Seeded random numbers: generators with the same seed return the same numbers. */
export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns a string of letters and digits. */
  string(length: number): string;
  /** State of the generator. Set it to continue another generator. */
  state: bigint;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Creates a linear congruential generator with 48 bits of state, of which it returns the top 32. */
export function createRandom(seed: number): Random {
  let state = BigInt.asUintN(48, BigInt(Math.trunc(seed)) * 0x9e3779b97f4an + 0xbn);
  const next = (): number => {
    state = BigInt.asUintN(48, state * 0x5deece66dn + 0xbn);
    return Number(state >> 16n) / 2 ** 32;
  };
  return {
    get state() {
      return state;
    },
    set state(value) {
      state = value;
    },
    next,
    string: (length) => Array.from({ length }, () => ALPHABET.charAt(Math.floor(next() * ALPHABET.length))).join(''),
  };
}
