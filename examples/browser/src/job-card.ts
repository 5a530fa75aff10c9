import { copyOf, onClick, part, showName } from './dom.ts';

/** Final state of a card; the job of one that is `left` continues at the service. */
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

  /** `signal` aborts with the session, and removes the card. */
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

  /** Shows a status; repeating it changes nothing. */
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

  /** Shows the duration since the job was started; how much is left is unknown. */
  showDuration(milliseconds: number): void {
    this.#amount.textContent = `${Math.round(milliseconds / 1000)} s`;
  }

  /** Shows the progress of an upload. */
  showProgress({ loaded, total }: { readonly loaded: number; readonly total: number }): void {
    const share = total === 0 ? 1 : loaded / total;
    this.#bar.value = share;
    this.#amount.textContent = `${Math.floor(share * 100)} %`;
  }

  /** Shows that the job has ended, or is no longer watched; with `again`, a button continues. */
  end(how: JobEnd, text: string, again?: () => void): void {
    this.#root.dataset.state = how;
    this.#steps.lastElementChild?.removeAttribute('aria-current');
    // A bar without a value keeps moving.
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
