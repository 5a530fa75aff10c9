import { isOperationName, type OperationName, operations } from '../../spec/operations.ts';
import type { HandledRequest } from '../service.ts';
import { isSecret } from './redact-request.ts';
import { hideInHeader, hideInUrl, inShell, readSnippetBody, type SnippetBody } from './snippet-values.ts';

/** Headers that a snippet leaves out, because every client sends its own. */
const LEFT_OUT =
  /^(?:host|connection|content-length|user-agent|accept-(?:encoding|language)|transfer-encoding|origin|referer|x-forwarded-for|cookie|sec-.*)$/;

const isSent = (name: string): boolean => !LEFT_OUT.test(name);

/** Returns the headers that matter to the service, without credentials. */
export const relevantHeaders = ({ headers }: HandledRequest): (readonly [name: string, value: string])[] =>
  [...headers].filter(([name]) => isSent(name) && !isSecret(name));

function headersOf({ headers }: HandledRequest, body: SnippetBody | undefined): [name: string, value: string][] {
  // The type of a multipart body contains a boundary, which differs in each request.
  const isShown = (name: string): boolean => isSent(name) && !(name === 'content-type' && body?.kind === 'multipart');
  return [...headers].filter(([name]) => isShown(name)).map(([name, value]) => [name, hideInHeader(name, value)]);
}

/** Maximum size of a file in a snippet. */
const MAX_FILE = 20_000;

/** Returns the curl command that sends a request again. Credentials are variables of the environment. */
export async function curlOf(request: HandledRequest): Promise<string> {
  const body = await readSnippetBody(request);
  const { method } = request.entry;
  const parts = [`curl --globoff ${inShell(hideInUrl(request.url))}`];
  if (method === 'HEAD') parts.push('--head');
  else if (method !== 'GET') parts.push(`-X ${inShell(method)}`);
  for (const [name, value] of headersOf(request, body)) parts.push(`-H ${inShell(`${name}: ${value}`)}`);
  let before = '';
  let after = '';
  // Not `--data`, which reads a file if the body begins with `@`.
  if (body?.kind === 'json') parts.push(`--data-raw ${inShell(body.text ?? JSON.stringify(body.value))}`);
  else if (body?.kind === 'text') parts.push(`--data-raw ${inShell(body.text)}`);
  else if (body?.kind === 'bytes') {
    before = `echo ${body.base64} | base64 -d | `;
    parts.push('--data-binary @-');
  } else if (body?.kind === 'multipart') {
    for (const { name, value, file } of body.parts) {
      if (file === undefined) parts.push(`--form-string ${inShell(`${name}=${value}`)}`);
      else {
        const isShort = value.length <= MAX_FILE && after === '';
        parts.push(`-F ${inShell(`${name}=@${isShort ? `-;filename=${file}` : file}`)}`);
        if (isShort) after = ` <<'END'\n${value.replace(/\n$/, '')}\nEND`;
      }
    }
  }
  return `${before}${parts.join(' \\\n  ')}${after}`;
}

/** The operations. Paths without a parameter come first, because `index` is no id. */
const OPERATIONS = Object.entries(operations).sort(
  ([, one], [, other]) => Number(one.path.includes('{')) - Number(other.path.includes('{')),
);

/** Returns the name of the operation that a request belongs to. */
export function operationOf(method: string, path: string): OperationName | undefined {
  for (const [name, operation] of OPERATIONS) {
    if (operation.method !== method || !isOperationName(name) || name === 'lookalikes.get') continue;
    if (new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)) return name;
  }
  return undefined;
}
