import { find, make } from './dom.ts';

const ADVANCES = [
  ['+1 min', 60_000],
  ['+10 min', 600_000],
  ['+1 h', 3_600_000],
  ['+1 d', 86_400_000],
] as const;

function advanceForm(): HTMLElement {
  const form = make('form', '', 'acts');
  form.dataset.action = 'POST /api/clock/advance';
  for (const [text, ms] of ADVANCES) {
    const button = Object.assign(make('button', text, 'small'), { name: 'ms', value: String(ms) });
    button.dataset.type = 'number';
    form.append(button);
  }
  return form;
}

/** Adds the buttons that advance the clock to its menu and its page: the same on every page, so that they are sent once. */
export function addAdvances(): void {
  const next = make('form', '');
  next.dataset.action = 'POST /api/clock/next';
  next.append(make('button', 'To the next event', 'small'));
  find('#clock-menu')?.append(make('h3', 'Advance'), advanceForm(), next);
  find('[data-advance]')?.append(advanceForm());
}

const shownAt = new WeakMap<Element, number>();

function tick(): void {
  for (const clock of document.querySelectorAll<HTMLElement>('time[data-now]')) {
    const at = shownAt.get(clock) ?? performance.now();
    shownAt.set(clock, at);
    const { now, speed, until } = clock.dataset;
    const time = Number(now) + (performance.now() - at) * Number(speed);
    const left = Math.max(0, Math.ceil((Number(until) - time) / 1_000));
    clock.textContent = until === undefined ? new Date(time).toISOString().slice(11, 19) : `${left} s`;
  }
}

/** Lets the clocks of a page run on between two updates, from when they came into the page. */
export function runClocks(): void {
  tick();
  setInterval(tick, 1_000);
}
