import { find } from './dom.ts';

/** The token that was issued on this page. It is kept nowhere else. */
let issued: string | undefined;

/** Puts the token that was issued on this page into the commands of a document. */
export function fillToken(root: Document): void {
  if (issued === undefined) return;
  for (const place of root.querySelectorAll('[data-token]')) place.textContent = `'${issued}'`;
}

/** Keeps a token for the commands of the page, until it is left. Returns the line of a shell that sets both variables. */
export function keepToken(token: string): string | undefined {
  issued = token;
  fillToken(document);
  const api = find('.addr')?.dataset.text;
  return api === undefined ? undefined : `export AUDIENCE_BASE_URL=${api} AUDIENCE_TOKEN='${token}'`;
}
