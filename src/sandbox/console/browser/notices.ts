import { copyButton, find, make, makeButton, makeLink } from './dom.ts';

/** Parts of a notice besides its sentence. */
interface NoticeDetails {
  readonly isError?: boolean;
  /** The TypeScript that does the same. */
  readonly code?: unknown;
  /** Id of the request that was sent. */
  readonly request?: unknown;
}

const MAX_NOTICES = 3;
const SHOWN_MS = 6_000;
const SHOWN_AGAIN_MS = 2_000;

const notices = make('div', '');

/** Adds the place of notices to the page. */
export function addNotices(): void {
  notices.id = 'notices';
  notices.setAttribute('role', 'status');
  document.body.append(notices);
}

/** Closes the latest notice. */
export const closeNotice = (): void => notices.firstElementChild?.remove();

/** Shows a notice. It goes after six seconds, unless it is an error or somebody uses it. */
export function notify(message: string, { isError = false, code, request }: NoticeDetails = {}): void {
  // Everything outside of an open dialog lies below the dialog, and cannot be clicked.
  (find('dialog[open]') ?? document.body).append(notices);
  const notice = make('div', '', `toast ${isError ? 'is-bad' : 'is-good'}`);
  notice.append(
    make('b', message),
    makeButton('Close', 'quiet small', () => notice.remove()),
  );
  if (typeof code === 'string') notice.append(make('code', code), copyButton(code));
  if (typeof request === 'string') notice.append(makeLink('Show the request', `/requests/${request}`));
  if (isError) notice.setAttribute('role', 'alert');
  // After a success, earlier errors are outdated.
  else for (const error of notices.querySelectorAll('[role=alert]')) error.remove();
  notices.prepend(notice);
  if (notices.closest('dialog')) notice.scrollIntoView({ block: 'nearest' });
  for (const old of [...notices.children].slice(MAX_NOTICES)) old.remove();
  const hide = (): void => {
    if (notice.matches(':hover, :focus-within')) setTimeout(hide, SHOWN_AGAIN_MS);
    else notice.remove();
  };
  if (!isError) setTimeout(hide, SHOWN_MS);
}
