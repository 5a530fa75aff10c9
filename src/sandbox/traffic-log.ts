/** The latest entries of something, oldest first. */
export class Log<T> {
  readonly entries: T[] = [];
  readonly #length: number;
  #total = 0;

  constructor(length: number) {
    this.#length = length;
  }

  /** How many there have been, forgotten ones included. */
  get total(): number {
    return this.#total;
  }

  add(entry: T): void {
    this.#total++;
    this.entries.push(entry);
    if (this.entries.length > this.#length) this.entries.shift();
  }
}
