import type { HandledRequest } from '../service.ts';
import { isSecret, redactText } from './redact-request.ts';
import { base64Of, type Concealer, readRequest } from './request-source.ts';

/** Marks a place where a variable stands in a string; nothing that others have sent can contain it. */
const MARK = `\uE000${crypto.randomUUID()}:`;
const MARKED = new RegExp(`${MARK}(\\w+)\uE001`, 'g');

/** Returns the variable of the environment that stands for a credential. */
export const variableName = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W+/g, '_')
    .toUpperCase();

const variable = (name: string): string => `${MARK}${variableName(name)}\uE001`;

/** Puts variables in place of credentials; the token of a bearer is the variable that the client and the command read, too. */
const VARIABLES: Concealer = {
  field: (name) => (isSecret(name) ? variable(name) : undefined),
  header(name, value) {
    if (!isSecret(name)) return redactText(value);
    if (name !== 'authorization') return variable(name);
    if (/^bearer /i.test(value)) return `${value.slice(0, 7)}${variable('AUDIENCE_TOKEN')}`;
    return /^basic /i.test(value) ? `${value.slice(0, 6)}${variable('CLIENT_CREDENTIALS')}` : variable(name);
  },
  text: redactText,
};

/** Returns a string as a shell argument, in which the shell replaces variables. */
const inShell = (text: string): string =>
  `'${text.replaceAll("'", `'\\''`)}'`.replaceAll(MARKED, `'"$$$1"'`).replaceAll(/(?<=")''(?=$|\s)/g, '');

/** Longest file that a command contains. */
const MAX_FILE = 20_000;

/** Returns the curl command that sends a request again. Credentials are variables of the environment. */
export async function curlOf(request: HandledRequest): Promise<string> {
  const { url, headers, body } = readRequest(request, VARIABLES);
  const { method } = request.entry;
  const form = await formOf(request);
  const parts = [`curl --globoff ${inShell(url)}`];
  if (method === 'HEAD') parts.push('--head');
  else if (method !== 'GET') parts.push(`-X ${inShell(method)}`);
  // The type of a multipart body contains a boundary, which is another one each time.
  for (const [name, value] of headers)
    if (!form || name !== 'content-type') parts.push(`-H ${inShell(`${name}: ${value}`)}`);
  if (form) return withForm(parts, form);
  // Not `--data`, which reads a file if the body begins with `@`.
  if (typeof body === 'string') parts.push(`--data-raw ${inShell(body)}`);
  else if (body) return `echo ${base64Of(body)} | base64 -d | ${[...parts, '--data-binary @-'].join(' \\\n  ')}`;
  return parts.join(' \\\n  ');
}

/** Returns the fields of a multipart body; `undefined` for any other body. */
async function formOf({ body, headers }: HandledRequest): Promise<FormData | undefined> {
  const type = headers.get('content-type') ?? '';
  if (!body || !type.startsWith('multipart/form-data')) return undefined;
  return new Response(body, { headers: { 'content-type': type } }).formData().catch(() => undefined);
}

async function withForm(parts: string[], form: FormData): Promise<string> {
  let file = '';
  for (const [name, value] of form) {
    const content = typeof value === 'string' ? value : await value.text();
    const text = VARIABLES.field(name, content) ?? redactText(content);
    if (typeof value === 'string') parts.push(`--form-string ${inShell(`${name}=${text}`)}`);
    else if (text.length > MAX_FILE || file !== '') parts.push(`-F ${inShell(`${name}=@${value.name}`)}`);
    else {
      parts.push(`-F ${inShell(`${name}=@-;filename=${value.name}`)}`);
      file = ` <<'END'\n${text.replaceAll(MARKED, '…').replace(/\n$/, '')}\nEND`;
    }
  }
  return `${parts.join(' \\\n  ')}${file}`;
}
