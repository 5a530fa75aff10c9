import type { KeptRequest } from './recorder.ts';
import { isSecret, redactText } from './redact-request.ts';
import { type Concealer, readRequest } from './request-source.ts';

/** Marks the place of a variable in a string. No recorded request contains this mark. */
const MARK = `\uE000${crypto.randomUUID()}:`;
const MARKED = new RegExp(`${MARK}(\\w+)\uE001`, 'g');

export const variableName = (name: string): string =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W+/g, '_')
    .toUpperCase();

const variable = (name: string): string => `${MARK}${variableName(name)}\uE001`;

/** Replaces credentials with variables. A bearer token becomes the variable that the client and the command also read. */
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

/** Returns a string as a shell argument in which the shell expands the variables. */
const inShell = (text: string): string =>
  `'${text.replaceAll("'", `'\\''`)}'`.replaceAll(MARKED, `'"$$$1"'`).replaceAll(/(?<=")''(?=$|\s)/g, '');

/**
 * Returns the curl command that sends a request again. Credentials become environment variables. curl reads files
 * from the folder in which it runs.
 */
export async function curlOf(request: KeptRequest): Promise<string> {
  const { url, headers, body } = readRequest(request, VARIABLES);
  const { method } = request.entry;
  const form = await formOf(request);
  const parts = [`curl --globoff ${inShell(url)}`];
  if (method === 'HEAD') parts.push('--head');
  else if (method !== 'GET') parts.push(`-X ${inShell(method)}`);
  // Omit the type of a multipart body: curl sets a new boundary for each request.
  for (const [name, value] of headers)
    if (!form || name !== 'content-type') parts.push(`-H ${inShell(`${name}: ${value}`)}`);
  for (const [name, value] of form ?? []) {
    // A web page may have chosen the file name. The pasted command must not read other folders.
    if (typeof value !== 'string') parts.push(`-F ${inShell(`${name}=@${value.name.replace(/^.*\//s, '')}`)}`);
    else parts.push(`--form-string ${inShell(`${name}=${VARIABLES.field(name, value) ?? redactText(value)}`)}`);
  }
  // `--data` would read a file if the body begins with `@`.
  if (!form && body) parts.push(typeof body === 'string' ? `--data-raw ${inShell(body)}` : '--data-binary @body');
  return parts.join(' \\\n  ');
}

async function formOf({ body, headers }: KeptRequest): Promise<FormData | undefined> {
  const type = new Headers(headers).get('content-type') ?? '';
  if (!body || !type.startsWith('multipart/form-data')) return undefined;
  return new Response(body, { headers: { 'content-type': type } }).formData().catch(() => undefined);
}
