import { copyOf, onClick, part } from './dom.ts';

/** How a job looks at its end; `left` is one that goes on unwatched. */
export type JobEnd = 'done' | 'asks' | 'failed' | 'left';

/** What a card is made of. */
export interface JobCardOptions {
  readonly name: string;
  /** What the button says that ends watching. */
  readonly stop: string;
  readonly onStop: () => void;
  readonly signal: AbortSignal;
}

/** One job under way: its steps, its time or bytes, and what became of it. */
export class JobCard {
  readonly #root = copyOf('job', HTMLElement);
  readonly #steps = part(this.#root, 'steps', HTMLOListElement);
  readonly #bar = part(this.#root, 'bar', HTMLProgressElement);
  readonly #amount = part(this.#root, 'amount', HTMLElement);
  readonly #stop = part(this.#root, 'stop', HTMLButtonElement);
  readonly #again = part(this.#root, 'again', HTMLButtonElement);
  readonly #close = part(this.#root, 'close', HTMLButtonElement);
  readonly #signal: AbortSignal;
  #onStop: () => void;
  #onAgain: () => void = () => {};

  constructor(place: HTMLElement, { name, stop, onStop, signal }: JobCardOptions) {
    part(this.#root, 'name', HTMLElement).textContent = name;
    this.#bar.ariaLabel = `Progress of ${name}`;
    this.#stop.textContent = stop;
    this.#signal = signal;
    this.#onStop = onStop;
    onClick(this.#stop, signal, () => this.#onStop());
    onClick(this.#again, signal, () => this.#onAgain());
    onClick(this.#close, signal, () => this.remove());
    signal.addEventListener('abort', () => this.remove());
    place.prepend(this.#root);
  }

  remove(): void {
    this.#root.remove();
  }

  /** A status; the same one again changes nothing. */
  step(name: string): void {
    const last = this.#steps.lastElementChild;
    if (last?.textContent === name) return;
    last?.removeAttribute('aria-current');
    const item = document.createElement('li');
    item.textContent = name;
    item.ariaCurrent = 'step';
    this.#steps.append(item);
    this.#say(name);
  }

  /** What the button says from now on. */
  stopText(text: string): void {
    this.#stop.textContent = text;
  }

  /** Seconds since the beginning. Its bar cannot tell how much is left. */
  elapsed(milliseconds: number): void {
    this.#amount.textContent = `${Math.round(milliseconds / 1000)} s`;
  }

  /** How much of the whole is there. */
  filled({ loaded, total }: { readonly loaded: number; readonly total: number }): void {
    const share = total === 0 ? 1 : loaded / total;
    this.#bar.value = share;
    this.#amount.textContent = `${Math.floor(share * 100)} %`;
  }

  /** The job has ended, or is not watched any more; `again` offers to watch it on. */
  end(how: JobEnd, text: string, again?: () => void): void {
    this.#root.dataset.state = how;
    this.#steps.lastElementChild?.removeAttribute('aria-current');
    // Without a value it would look as if it still moved.
    if (how === 'done' || !this.#bar.hasAttribute('value')) this.#bar.value = how === 'left' ? 0 : 1;
    this.#say(text);
    const focused = document.activeElement === this.#stop;
    this.#stop.hidden = true;
    this.#close.hidden = false;
    this.#again.hidden = !again || this.#signal.aborted;
    this.#onAgain = again ?? (() => {});
    if (focused) (again ? this.#again : this.#close).focus();
  }

  /** Watching goes on. */
  resume(onStop: () => void): void {
    this.#root.dataset.state = 'running';
    this.#bar.removeAttribute('value');
    this.#onStop = onStop;
    this.#stop.hidden = false;
    this.#again.hidden = true;
    this.#close.hidden = true;
    this.#stop.focus();
  }

  /** Read out by screen readers. */
  #say(text: string): void {
    part(this.#root, 'said', HTMLElement).textContent = text;
  }
}
