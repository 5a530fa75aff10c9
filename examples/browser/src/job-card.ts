import { copyOf, onClick, part, showName } from './dom.ts';

/** Final state of a card. `asks`: the service needs information; `left`: the card stops, but the job keeps running. */
export type JobEnd = 'done' | 'asks' | 'failed' | 'left';

/** Shows one job: its steps, its duration or progress, and its result. */
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

  /** The card is removed when `signal` aborts, at the end of the session. */
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

  /** Scrolls to the card if it is not visible. */
  reveal(): void {
    this.#root.scrollIntoView({ block: 'nearest' });
  }

  /** Shows the job as running; `stop` is the label of the button that calls `onStop`. */
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

  /** Adds a step with the name of a status, unless it is the latest step already. */
  step(name: string): void {
    const last = this.#steps.lastElementChild;
    if (last?.textContent === name) return;
    last?.removeAttribute('aria-current');
    const item = document.createElement('li');
    item.textContent = name;
    item.ariaCurrent = 'step';
    this.#steps.append(item);
    this.#announce(name);
  }

  /** Shows how long the job has been running. The time left is unknown. */
  showDuration(milliseconds: number): void {
    this.#amount.textContent = `${Math.round(milliseconds / 1000)} s`;
  }

  /** Shows the progress of an upload. */
  showProgress({ loaded, total }: { readonly loaded: number; readonly total: number }): void {
    const share = total === 0 ? 1 : loaded / total;
    this.#bar.value = share;
    this.#amount.textContent = `${Math.floor(share * 100)} %`;
  }

  /** Shows how the job, or watching it, has ended. With `again`, shows a button that calls it. */
  end(how: JobEnd, text: string, again?: () => void): void {
    this.#root.dataset.state = how;
    this.#steps.lastElementChild?.removeAttribute('aria-current');
    // Set a value, because a progress bar without one keeps moving.
    if (how === 'done' || !this.#bar.hasAttribute('value')) this.#bar.value = how === 'left' ? 0 : 1;
    this.#announce(text);
    const focused = document.activeElement === this.#stop;
    this.#stop.hidden = true;
    this.#close.hidden = false;
    this.#again.hidden = !again;
    this.#onAgain = again ?? (() => {});
    if (focused) (again ? this.#again : this.#close).focus();
  }

  /** Sets the status that screen readers announce. */
  #announce(text: string): void {
    part(this.#root, 'said', HTMLElement).textContent = text;
  }
}
