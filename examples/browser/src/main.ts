import { AudienceClient } from 'audience-activation';
import { AudienceList } from './audience-list.ts';
import { CohortUpload } from './cohort-upload.ts';
import { fill, onClick, onSubmit, part, showName, textOf } from './dom.ts';
import { JobWatcher } from './job-watcher.ts';
import { AudienceBuilder } from './new-audience.ts';
import { clearProblems, explain, showProblem } from './problems.ts';
import { RunningJobs } from './running-jobs.ts';
import { currentEmail, sessionToken, signIn, signOut } from './session.ts';

const page = document.body;
const signInView = part(page, 'sign-in-view', HTMLElement);
const appView = part(page, 'app-view', HTMLElement);
const who = part(page, 'who', HTMLElement);
const form = part(signInView, 'sign-in', HTMLFormElement);
/** Never aborts: the sign-in form lives as long as the page. */
const pageSignal = new AbortController().signal;

/** Shows the app to a user who is signed in. */
function open(email: string): void {
  const session = new AbortController();
  const { signal } = session;
  const close = (problem: string): void => {
    session.abort();
    void client.close();
    show('sign-in', problem);
  };
  const token = sessionToken(() => {
    if (signal.aborted) return;
    fill(form, 'email', email);
    close('Your session has ended. Please sign in again.');
  });
  // Do not let users wait for minutes: after a longer `Retry-After`, an error shows when to try again.
  const client = new AudienceClient({ baseUrl: location.origin, token, maxRetryWait: 5_000 });
  const list = new AudienceList(part(appView, 'list', HTMLElement), client, signal);
  const running = new RunningJobs(email);
  const jobs = new JobWatcher(part(appView, 'jobs', HTMLElement), { client, list, running, signal });
  new AudienceBuilder(part(appView, 'builder', HTMLElement), client, jobs, signal);
  new CohortUpload(part(appView, 'upload', HTMLElement), client, jobs, signal);
  showName(part(who, 'email', HTMLElement), email);
  const signOutProblem = part(who, 'problem', HTMLElement);
  signOutProblem.textContent = '';
  onClick(part(who, 'sign-out', HTMLButtonElement), signal, async () => {
    signOutProblem.textContent = '';
    try {
      await signOut();
      running.clear();
      close('');
    } catch (error) {
      signOutProblem.textContent = explain(error);
    }
  });
  jobs.resume();
  show('app');
}

/** Shows one of the two views, and a message about a problem, if there is one. */
function show(view: 'sign-in' | 'app', problem = ''): void {
  appView.hidden = view !== 'app';
  who.hidden = view !== 'app';
  signInView.hidden = view !== 'sign-in';
  part(form, 'problem', HTMLElement).textContent = problem;
  const empty = [...form.querySelectorAll('input')].find(({ value }) => value === '');
  // Do not scroll to the heading, which may be below the forms.
  if (view === 'app') part(appView, 'heading', HTMLElement).focus({ preventScroll: true });
  else empty?.focus();
}

onSubmit(form, pageSignal, async () => {
  clearProblems(form);
  const email = textOf(form, 'email');
  try {
    await signIn(email, textOf(form, 'password'));
    form.reset();
    open(email);
  } catch (error) {
    showProblem(form, error);
    part(form, 'password', HTMLInputElement).select();
  }
});

try {
  const email = await currentEmail();
  if (email === undefined) show('sign-in');
  else open(email);
} catch (error) {
  show('sign-in', explain(error));
}
