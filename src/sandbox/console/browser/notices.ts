import { copyButton, find, make } from './dom.ts';

interface NoticeDetails {
  readonly isError?: boolean;
  readonly code?: unknown;
  readonly request?: unknown;
}

const MAX_NOTICES = 3;
const SHOWN_MS = 6_000;
const SHOWN_AGAIN_MS = 2_000;

const notices = make('div', '');

const accountFilter = (): string => /\?account=[^&#]*/.exec(location.search)?.[0] ?? '';

export function addNotices(): void {
  notices.id = 'notices';
  notices.setAttribute('role', 'status');
  document.body.append(notices);
}

export const closeNotice = (): void => notices.firstElementChild?.remove();

/** Shows a notice. The notice disappears after six seconds, unless it is an error or the user is using it. */
export function notify(message: string, { isError = false, code, request }: NoticeDetails = {}): void {
  // Everything outside of an open dialog lies below the dialog, and cannot be clicked.
  (find('dialog[open]') ?? document.body).append(notices);
  const notice = make('div', '', `toast ${isError ? 'bad' : 'good'}`);
  const close = make('button', 'Close', 'quiet small');
  close.addEventListener('click', () => notice.remove());
  notice.append(make('b', message), close);
  if (typeof code === 'string') notice.append(make('code', code), copyButton(code));
  if (typeof request === 'string')
    notice.append(Object.assign(make('a', 'Show the request'), { href: `/requests/${request}${accountFilter()}` }));
  // After another result, earlier errors are outdated.
  for (const error of notices.querySelectorAll('[role=alert]')) error.remove();
  if (isError) notice.setAttribute('role', 'alert');
  notices.prepend(notice);
  if (notices.closest('dialog')) notice.scrollIntoView({ block: 'nearest' });
  for (const old of [...notices.children].slice(MAX_NOTICES)) old.remove();
  const hide = (): void => {
    if (notice.matches(':hover, :focus-within')) setTimeout(hide, SHOWN_AGAIN_MS);
    else notice.remove();
  };
  if (!isError) setTimeout(hide, SHOWN_MS);
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

/** Reports that the page will not be updated any more, because its session has ended. */
export function showEnded(): void {
  find('#lost')?.remove();
  banner('ended', 'Your session has ended.', 'Open the address that the sandbox has printed.');
}

export const isEnded = (): boolean => find('#ended') !== null;
