import type { Credentials } from 'audience-activation';

/** Does what a person does whose browser shows the sandbox's page of consent: allows, and goes where that leads. */
export async function allow(url: string, credentials: Credentials): Promise<void> {
  const body = new URLSearchParams({ ...credentials, decision: 'allow' });
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  const back = answer.headers.get('location');
  if (back === null) throw new Error(`The page of consent answered ${answer.status}.`);
  await fetch(back);
}
