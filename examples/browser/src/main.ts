import { AudienceClient } from 'audience-activation';
import { showAudiences } from './audience-list.ts';
import { CohortUpload } from './cohort-upload.ts';
import { onClick, onSubmit, part, textOf } from './dom.ts';
import { AudienceBuilder } from './new-audience.ts';
import { clearProblems, explain, showProblem } from './problems.ts';
import { currentEmail, sessionToken, signIn, signOut } from './session.ts';

const page = document.body;
const signInView = part(page, 'sign-in-view', HTMLElement);
const appView = part(page, 'app-view', HTMLElement);
const who = part(page, 'who', HTMLElement);
const form = part(signInView, 'sign-in', HTMLFormElement);
/** The page's own end; a session ends earlier. */
const forever = new AbortController().signal;

/** Shows the app to somebody who is signed in. */
function open(email: string): void {
  const session = new AbortController();
  const { signal } = session;
  // A person does not sit out long waits: they are told when to try again.
  const client = new AudienceClient({ baseUrl: location.origin, token: sessionToken(), maxRetryWait: 5_000 });
  const list = showAudiences(part(appView, 'list', HTMLElement), client, signal);
  new AudienceBuilder(part(appView, 'builder', HTMLElement), client, list, signal);
  new CohortUpload(part(appView, 'upload', HTMLElement), client, signal);
  part(who, 'email', HTMLElement).textContent = email;
  onClick(part(who, 'sign-out', HTMLButtonElement), signal, async () => {
    session.abort();
    await client.close();
    await signOut();
    show('sign-in');
  });
  show('app');
}

/** One of the two views. */
function show(view: 'sign-in' | 'app'): void {
  appView.hidden = view !== 'app';
  who.hidden = view !== 'app';
  signInView.hidden = view !== 'sign-in';
  if (view === 'app') part(appView, 'heading', HTMLElement).focus();
  else form.querySelector('input')?.focus();
}

onSubmit(form, forever, async () => {
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
  show('sign-in');
  part(form, 'problem', HTMLElement).textContent = explain(error);
}
