import { withAccount } from '../words.ts';
import { copyButton, find, make } from './dom.ts';

interface NoticeDetails {
  readonly isError?: boolean;
  readonly code?: unknown;
  readonly link?: unknown;
}

const MAX_NOTICES = 3;
const SHOWN_MS = 15_000;

const notices = make('div', '');

export function addNotices(): void {
  notices.id = 'notices';
  notices.setAttribute('role', 'status');
  find('main')?.append(notices);
}

export const closeNotice = (): void => notices.firstElementChild?.remove();

/** Shows a notice below the content. It disappears after 15 seconds, unless it is an error. */
export function notify(message: string, { isError = false, code, link }: NoticeDetails = {}): void {
  // Everything outside of an open dialog lies below the dialog, and cannot be clicked.
  (find('dialog[open]') ?? find('main'))?.append(notices);
  const notice = make('div', '', `toast ${isError ? 'bad' : 'good'}`);
  const close = make('button', 'Close', 'quiet small');
  close.addEventListener('click', () => notice.remove());
  notice.append(make('b', message), close);
  if (typeof code === 'string') notice.append(make('code', code), copyButton(code));
  // After another result, earlier errors are outdated.
  for (const error of notices.querySelectorAll('[role=alert]')) error.remove();
  if (isError) notice.setAttribute('role', 'alert');
  notices.prepend(notice);
  const account = new URLSearchParams(location.search).get('account');
  if (Array.isArray(link)) notice.append(Object.assign(make('a', link[1]), { href: withAccount(link[0], account) }));
  if (notices.closest('dialog')) notice.scrollIntoView({ block: 'nearest' });
  for (const old of [...notices.children].slice(MAX_NOTICES)) old.remove();
  // A notice covers the end of a long page, but not the button that was pressed.
  find('button:focus')?.scrollIntoView({ block: 'nearest' });
  if (!isError) setTimeout(() => notice.remove(), SHOWN_MS);
}

/** Time at which the page last showed the state of the sandbox. */
let seenAt = new Date();

function banner(id: string, title: string, text: string): void {
  if (document.getElementById(id)) return;
  const note = make('div', '', 'note bad');
  note.id = id;
  note.setAttribute('role', 'alert');
  const since = `What you see is from ${seenAt.toLocaleTimeString([], { hour12: false })}.`;
  note.append(make('b', title), make('p', `${since} ${text}`));
  find('main')?.prepend(note);
}

export function showCurrent(): void {
  seenAt = new Date();
  find('#lost')?.remove();
}

export const showLost = (): void =>
  banner(
    'lost',
    'The sandbox does not respond.',
    'The page reconnects automatically. If you restarted the sandbox, open the new address that it printed.',
  );

export function showEnded(): void {
  find('#lost')?.remove();
  banner('ended', 'Your session has ended.', 'Open the address that the sandbox has printed.');
}

export const isEnded = (): boolean => find('#ended') !== null;
