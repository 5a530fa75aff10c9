import type { Credentials } from 'audience-activation';

/** Submits the sandbox's consent page as a user would, and follows its redirect. */
export async function allow(url: string, credentials: Credentials): Promise<void> {
  const body = new URLSearchParams({ ...credentials, decision: 'allow' });
  const response = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  const location = response.headers.get('location');
  if (location === null) throw new Error(`The consent page responded with ${response.status}.`);
  await fetch(location);
}
