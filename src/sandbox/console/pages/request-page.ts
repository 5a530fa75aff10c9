import { html } from 'hono/html';
import type { LogEntry } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { curlOf } from '../curl-command.ts';
import { actionForm } from '../forms.ts';
import { bytesIn, codeBlock, prettyJson } from '../highlight.ts';
import { type Content, emptyState, facts, foreign, type Html, head, live, timeElement } from '../html.ts';
import { numberOf } from '../lists.ts';
import { findResource, resourceLink } from '../objects.ts';
import type { KeptRequest } from '../recorder.ts';
import { redactBody, redactHeader, targetOf } from '../redact-request.ts';
import { buildsText, reasonNote, statusBadge } from '../request-reason.ts';
import { findRequests, keptRequests, namedBy } from '../request-search.ts';
import { decode, operationOf } from '../request-source.ts';
import { BODY_NOT_KEPT, isComplete } from '../resend.ts';
import { count, dateText, relativeText } from '../words.ts';
import { createdText } from './requests-page.ts';

export async function requestPage(console: ConsoleContext, id: string, query: URLSearchParams) {
  const { service, recorder } = console;
  const { log } = service.state;
  const entry = log.find((candidate) => candidate.id === id);
  if (!entry) {
    const isDropped = /^req_[1-9]/.test(id) && numberOf(id) <= service.state.requestCount;
    return isDropped ? { title: id, content: keptRequests(service.state) } : undefined;
  }
  const recorded = recorder.find(entry);
  const { method, path } = entry;
  const listed = findRequests(console, query);
  const near = (text: string, [one]: readonly LogEntry[]) => one && html`<a href="/requests/${one.id}">${text}</a>`;
  const newer = listed.filter((one) => numberOf(one.id) > numberOf(id));
  const older = listed.filter((one) => numberOf(one.id) < numberOf(id)).slice(-1);
  const copy = html`<button type="button" data-copy="curl">Copy as curl</button>`;
  const test = html`<a class="button" href="/recording.test.ts?until=${id}" download="recording.test.ts">Export as a test</a>`;
  const withNewKey = entry.idempotencyKey ? resendForm('Send with a new key', { id, key: 'new' }) : '';
  const repeats = [copy, test, withNewKey, resendForm('Send again', { id })];
  const actions = recorded && (isComplete(recorded) ? repeats : test);
  return {
    title: `${method} ${path}`,
    content: html`<section id="near" data-live><p class="line"><small><a href="/requests">Requests</a> / <span class="num">${id}</span></small>
<small>${near('Newer', newer)} ${near('Older', older)}</small></p></section>
${head(html`${method} <bdi>${path}</bdi>`, statusBadge(entry), actions ?? '')}
${live('reason', [reasonNote(console, entry), factsOf(console, entry, recorded)])}
${recorded ? await details(recorded, service.state.accounts.size > 1) : NOT_KEPT}`,
  };
}

const NOT_KEPT = emptyState(
  'The details of this request are not kept',
  'Headers and bodies are kept for the newest requests, up to 16 MiB, since the console was first opened or a state was loaded.',
);

const resendForm = (submit: string, values: Readonly<Record<string, string>>): Html =>
  actionForm('POST /api/requests/resend', submit, { values });

function factsOf(console: ConsoleContext, entry: LogEntry, recorded: KeptRequest | undefined): Html {
  const { account, bucket, method, path, fault, idempotencyKey: key } = entry;
  const query = recorded ? targetOf(recorded).slice(path.length) : '';
  const time = Date.parse(entry.at);
  const date = `${dateText(time)}, ${relativeText(time - console.service.clock.now())}`;
  return facts([
    ['Time', html`${timeElement(time, time, 12)} <span class="soft">${date}</span>`],
    ['Result', createdText(console, entry)],
    ['About', aboutOf(console, entry)],
    ['Query', query === '' ? '' : html`<code><bdi>${query}</bdi></code>`],
    ['Duration', recorded ? `${recorded.duration.toFixed(1)} ms` : ''],
    ['Account', account === undefined ? '' : foreign(account)],
    [
      'Idempotency key',
      key ? html`<a href="/requests?q=key:${encodeURIComponent(key)}&repeats=all">${foreign(key)}</a>` : '',
    ],
    ['Operation', operationOf(method, path) ?? ''],
    ['Fault', fault ?? ''],
    [`Bucket ${bucket?.name ?? ''}`, bucket ? `${count(bucket.used)} of ${count(bucket.limit)} used` : ''],
    ['Builds', entry.budget ? buildsText(entry.budget) : ''],
  ]);
}

const aboutOf = (console: ConsoleContext, entry: LogEntry): Content => {
  const resources = [...new Set(namedBy(console, entry))].flatMap((id) => findResource(console.service, id) ?? []);
  if (resources.length === 0) return '';
  return resources.map(({ id, kind, name }, index) => [
    index > 0 ? ', ' : '',
    html`${resourceLink({ id, kind, name })} <span class="soft">${name && `${kind} ${id}`}</span>`,
  ]);
};

async function details(recorded: KeptRequest, hasAccounts: boolean): Promise<Html> {
  const body = recorded.body && decode(recorded.body);
  const sent =
    recorded.body || recorded.entry.method !== 'GET'
      ? bodyBlock('request-body', body && redactBody(body), recorded.body?.length ?? 0, recorded.file)
      : '';
  return html`<div class="cols half">
<section aria-labelledby="request-title"><h2 id="request-title">Request</h2>${headerList(recorded.headers)}${sent}</section>
<section aria-labelledby="response-title"><h2 id="response-title">Response</h2>${responseOf(recorded)}</section></div>
<h2>Repeat the request</h2>${isComplete(recorded) ? await curlBlock(recorded, hasAccounts) : html`<p>${BODY_NOT_KEPT}. ${recorded.file ? 'Upload the file again.' : 'Send it from your program.'}</p>`}`;
}

async function curlBlock(recorded: KeptRequest, hasAccounts: boolean): Promise<Html> {
  const command = await curlOf(recorded);
  const account = (hasAccounts && command.includes('$AUDIENCE_TOKEN') && recorded.entry.account) || '';
  const whose = account && html`, with a token of <bdi>${account}</bdi>`;
  const files = / -F '|--data-binary/.test(command)
    ? ' Before you run it, save uploaded files under their names, and a binary body as body, in the current folder.'
    : '';
  return html`${codeBlock('curl', 'Shell', command)}
<p class="soft">The command reads credentials from environment variables such as <code>AUDIENCE_TOKEN</code>${whose}.${files}</p>`;
}

const INCIDENTAL = /^(?:host|connection|content-length|accept-.*|access-control-.*|sec-.*)$/;

const headerList = (headers: KeptRequest['headers']): Html =>
  facts(
    headers
      .filter(([name]) => !INCIDENTAL.test(name))
      .map(([name, value]) => [html`<code>${name}</code>`, html`<code><bdi>${redactHeader(name, value)}</bdi></code>`]),
  );

function responseOf({ entry, response, responseHeaders }: KeptRequest): Html {
  if (!responseHeaders) {
    const why = entry.status === 0 ? 'There was no response.' : 'The response was cut in the middle of its body.';
    return html`<p class="soft">${why}</p>`;
  }
  const lost = entry.status === 0 ? html`<p class="bad">The client did not receive this response.</p>` : '';
  const body = response === undefined ? undefined : redactBody(response);
  return html`${lost}${headerList(responseHeaders)}${bodyBlock('response-body', body, bytesIn(response ?? ''))}`;
}

function bodyBlock(id: string, text: string | undefined, size: number, file?: KeptRequest['file']): Html {
  if (text) return codeBlock(id, `Body, ${count(size)} bytes`, prettyJson(text));
  if (file) return html`<p class="soft">A file of ${count(file.size)} bytes, which is not kept.</p>`;
  if (size > 0) return html`<p class="soft">A body of ${count(size)} bytes, which are not text.</p>`;
  return html`<p class="soft">There is no body, or it is not kept.</p>`;
}
