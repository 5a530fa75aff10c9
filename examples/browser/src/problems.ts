import {
  AudienceError,
  AuthenticationError,
  BuildBudgetError,
  ConnectionError,
  FileError,
  JobError,
  JobNeedsInfoError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  ValidationError,
  WaitTimeoutError,
} from 'audience-activation';

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

const at = (moment: Date | undefined): string => (moment ? `at ${clock.format(moment)}` : 'in a while');

/** Functions that return the message for an error, if they apply to it; specific errors before general ones. */
const MEANINGS: readonly ((error: unknown) => string | undefined | false)[] = [
  (error) =>
    BuildBudgetError.isInstance(error) &&
    `Your organization has used up its builds. The next one is possible ${at(error.retryAt)}.`,
  (error) =>
    RateLimitError.isInstance(error) && `Too many requests in a short time. Please try again ${at(error.retryAt)}.`,
  (error) => ValidationError.isInstance(error) && 'Please correct the marked fields.',
  (error) => AuthenticationError.isInstance(error) && 'Your session has ended. Please sign out and in again.',
  (error) => PermissionError.isInstance(error) && 'Your account may not do this.',
  (error) => NotFoundError.isInstance(error) && 'This does not exist any more.',
  (error) =>
    ConnectionError.isInstance(error) &&
    `The service cannot be reached. ${error.outcome === 'unknown' ? 'It may have been created anyway; sending the same form again creates nothing twice.' : 'Please check your connection, and try again.'}`,
  (error) => ServerError.isInstance(error) && 'The service has a problem. Please try again later.',
  (error) => JobNeedsInfoError.isInstance(error) && 'The service needs more information. The console says what.',
  (error) => JobError.isInstance(error) && error.kind === 'cohort' && 'The service could not import this file.',
  (error) => WaitTimeoutError.isInstance(error) && 'This takes longer than expected. It continues at the service.',
  (error) => FileError.isInstance(error) && 'The file has changed or cannot be read. Please choose it again.',
  (error) => AudienceError.isInstance(error) && error.code === 'token-unavailable' && explain(error.cause),
  (error) => error instanceof Error && error.message,
];

/** Returns the message of an error for users. */
export function explain(error: unknown): string {
  for (const meaning of MEANINGS) {
    const text = meaning(error);
    if (text) return text;
  }
  return 'Something went wrong.';
}

/** Removes all problems from a form. */
export function clearProblems(form: HTMLFormElement): void {
  for (const note of form.querySelectorAll('.problem')) note.textContent = '';
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
}

/** Shows an error in a form: next to the fields that it names, otherwise below all fields. */
export function showProblem(
  form: HTMLFormElement,
  error: unknown,
  aliases: Readonly<Record<string, string>> = {},
): void {
  const named = ValidationError.isInstance(error) ? Object.entries(error.errors) : [];
  const rest = named.filter(([name, messages]) => !markField(form, aliases[name] ?? name, messages.join(' ')));
  const summary = form.querySelector('[data-part="problem"]');
  const texts = [explain(error), ...rest.map(([name, messages]) => `${name}: ${messages.join(' ')}`)];
  if (summary) summary.textContent = texts.join(' ');
  form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
}

/** Marks a field of a form; returns `false` if the form has no such field. */
export function markField(form: HTMLFormElement, name: string, message: string): boolean {
  const field = form.elements.namedItem(name);
  const note = [...form.querySelectorAll('[data-error]')].find(
    (element) => element.getAttribute('data-error') === name,
  );
  if (!(field instanceof HTMLElement) || !note) return false;
  field.ariaInvalid = 'true';
  note.textContent = message;
  return true;
}
