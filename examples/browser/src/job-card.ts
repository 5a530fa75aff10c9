import { copyOf, onClick, part, showName } from './dom.ts';

/** How a job looks at its end; `left` is one that continues unwatched. */
export type JobEnd = 'done' | 'asks' | 'failed' | 'left';

/** One job under way: its steps, its time or bytes, and what became of it. */
export class JobCard {
  readonly #root = copyOf('job', HTMLElement);
  readonly #steps = part(this.#root, 'steps', HTMLOListElement);
  readonly #bar = part(this.#root, 'bar', HTMLProgressElement);
  readonly #amount = part(this.#root, 'amount', HTMLElement);
  readonly #stop = part(this.#root, 'stop', HTMLButtonElement);
  readonly #again = part(this.#root, 'again', HTMLButtonElement);
  readonly #close = part(this.#root, 'close', HTMLButtonElement);
  #onStop: () => void = () => {};
  #onAgain: () => void = () => {};

  /** `signal` ends with the session, and removes the card. */
  constructor(place: HTMLElement, name: string, signal: AbortSignal) {
    showName(part(this.#root, 'name', HTMLElement), name);
    this.#bar.ariaLabel = `Progress of ${name}`;
    onClick(this.#stop, signal, () => this.#onStop());
    onClick(this.#again, signal, () => this.#onAgain());
    onClick(this.#close, signal, () => this.remove());
    signal.addEventListener('abort', () => this.remove());
    place.prepend(this.#root);
  }

  remove(): void {
    this.#root.remove();
  }

  /** Scrolls to the card where the window does not show it. */
  reveal(): void {
    this.#root.scrollIntoView({ block: 'nearest' });
  }

  /** Shows the job as running; `stop` is the text of the button that calls `onStop`. */
  start(stop: string, onStop: () => void): void {
    this.#root.dataset.state = 'running';
    this.#bar.removeAttribute('value');
    this.#onStop = onStop;
    this.#stop.textContent = stop;
    const focused = document.activeElement === this.#again;
    this.#stop.hidden = false;
    this.#again.hidden = true;
    this.#close.hidden = true;
    if (focused) this.#stop.focus();
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

  /** Seconds since the job was started. How much is left is not known. */
  elapsed(milliseconds: number): void {
    this.#amount.textContent = `${Math.round(milliseconds / 1000)} s`;
  }

  /** How much of the whole is there. */
  filled({ loaded, total }: { readonly loaded: number; readonly total: number }): void {
    const share = total === 0 ? 1 : loaded / total;
    this.#bar.value = share;
    this.#amount.textContent = `${Math.floor(share * 100)} %`;
  }

  /** The job has ended, or is not watched any more; `again` offers to watch it further. */
  end(how: JobEnd, text: string, again?: () => void): void {
    this.#root.dataset.state = how;
    this.#steps.lastElementChild?.removeAttribute('aria-current');
    // Without a value it would look as if it still moved.
    if (how === 'done' || !this.#bar.hasAttribute('value')) this.#bar.value = how === 'left' ? 0 : 1;
    this.#say(text);
    const focused = document.activeElement === this.#stop;
    this.#stop.hidden = true;
    this.#close.hidden = false;
    this.#again.hidden = !again;
    this.#onAgain = again ?? (() => {});
    if (focused) (again ? this.#again : this.#close).focus();
  }

  /** Read out by screen readers. */
  #say(text: string): void {
    part(this.#root, 'said', HTMLElement).textContent = text;
  }
}
