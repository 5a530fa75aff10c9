import { find, make } from './dom.ts';

/** When the page was last as the sandbox is. */
let seenAt = new Date();
let hasEnded = false;

/** Shows a message above the page, once. */
function banner(id: string, tone: string, title: string, text: string): void {
  if (document.getElementById(id)) return;
  const note = make('div', '', `note ${tone}`);
  note.id = id;
  note.setAttribute('role', 'alert');
  note.append(
    make('p', title, tone),
    make('p', `What you see is from ${seenAt.toLocaleTimeString([], { hour12: false })}. ${text}`),
  );
  find('main')?.prepend(note);
}

/** Notes that the page is up to date. */
export function showCurrent(): void {
  seenAt = new Date();
  find('#lost')?.remove();
}

/** Reports that the sandbox does not respond. */
export const showLost = (): void =>
  banner(
    'lost',
    'bad',
    'The sandbox does not respond.',
    'It reconnects automatically. If you restarted the sandbox, open the new address that it printed.',
  );

/** Reports that the page will not be updated any more, because its session has ended. */
export function showEnded(): void {
  hasEnded = true;
  find('#lost')?.remove();
  banner('ended', 'busy', 'Your session has ended.', 'Open the address that the sandbox has printed.');
}

/** Returns whether the session of the page has ended. */
export const isEnded = (): boolean => hasEnded;
