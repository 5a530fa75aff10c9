import { html } from 'hono/html';
import type { HandledRequest } from '../../service.ts';
import type { LogEntry } from '../../state.ts';
import { operationOf } from '../client-snippets.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, formDialog, input, opener, select } from '../forms.ts';
import { codeBlock, prettyJson, tabs } from '../highlight.ts';
import {
  type Content,
  count,
  dateText,
  durationText,
  emptyState,
  facts,
  foreign,
  type Html,
  head,
  httpBadge,
  live,
  meter,
  relativeText,
  timeElement,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { redactBody, redactHeader, redactUrl } from '../redact-request.ts';
import { reasonLine, reasonNote } from '../request-reason.ts';
import { shownBody } from '../snippet-values.ts';
import { snippetsOf } from '../snippets.ts';
import { createdText } from './requests-page.ts';

/** One request: why it ended as it did and until when, what was sent and received, and how to repeat it. */
export async function requestPage(console: ConsoleContext, id: string): Promise<Page | undefined> {
  const { service, recorder } = console;
  const { state, clock } = service;
  const index = state.log.findIndex((candidate) => candidate.id === id);
  const entry = state.log[index];
  if (!entry) return undefined;
  const now = clock.now();
  const recorded = recorder.find(entry);
  const { method, path, status } = entry;
  const speed = typeof clock.mode === 'object' ? clock.mode.speed : clock.mode === 'real' ? 1 : 0;
  const near = (one: LogEntry | undefined, text: string): Html | '' =>
    one ? html`<a href="/requests/${one.id}">${text}</a>` : '';
  return {
    title: `${method} ${path}`,
    content: html`<p class="crumb"><span><a href="/requests">Requests</a> / <span class="num">${id}</span></span>
<span>${near(state.log[index + 1], 'Newer')} ${near(state.log[index - 1], 'Older')}</span></p>
${head(
  html`${method} <bdi>${path}</bdi>`,
  httpBadge(status),
  recorded ? [opener('edit', 'Edit and send…'), sendAgain(id, 'primary')] : '',
)}
${live('reason', [reasonNote(entry, recorded, now, speed), factsOf(console, entry, recorded, now)])}
${recorded ? await details(console, recorded, now) : notKept()}${recorded ? editDialog(recorded) : ''}`,
  };
}

const notKept = (): Html =>
  emptyState(
    'Its details are not kept',
    'Headers and bodies are kept for the newest requests since the console was opened, up to 16 MiB.',
  );

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) => [method, method] as const);

/** The request in a form, to be changed and sent with a token of its account. */
function editDialog(recorded: HandledRequest): Html {
  const { id, method } = recorded.entry;
  const { origin } = new URL(recorded.url);
  const body = shownBody(recorded) ?? '';
  return formDialog({
    id: 'edit',
    title: 'Edit and send',
    lead: 'With a token of its account, and the other headers as they were.',
    action: 'POST /api/requests/edited',
    submit: 'Send',
    values: { id },
    fields: [
      select('Method', 'method', METHODS, method),
      input('Path', 'path', { value: redactUrl(recorded.url).slice(origin.length), required: true }),
      input('Idempotency-Key', 'key', {}, 'Empty: none. The key of the request belongs to its body'),
      html`<label>Body <textarea name="body" rows="8" spellcheck="false">${prettyJson(body)}</textarea>
<small>A credential that is shown as … is sent as it was, unless you change it</small></label>`,
    ],
  });
}

const sendAgain = (id: string, style = ''): Html =>
  actionForm({ action: 'POST /api/requests/resend', submit: 'Send again', values: { id }, style });

function factsOf(console: ConsoleContext, entry: LogEntry, recorded: HandledRequest | undefined, now: number): Html {
  const { at, account, bucket, budget, method, path, fault, served } = entry;
  const operation = operationOf(method, path)?.name;
  const time = Date.parse(at);
  const query = recorded ? redactUrl(recorded.url).slice(new URL(recorded.url).origin.length + path.length) : '';
  return facts([
    [
      'Time',
      html`${timeElement(at, time, 12)} <span class="soft">${dateText(time)}, ${relativeText(time - now)}</span>`,
    ],
    ['Created', createdText(console, entry)],
    ['Query', query === '' ? '' : html`<code><bdi>${query}</bdi></code>`],
    ['Duration', recorded ? `${recorded.duration.toFixed(1)} ms` : ''],
    ['Account', account === undefined ? '' : foreign(account)],
    ['Operation', operation ?? ''],
    ['Fault', fault ?? ''],
    ['Response of the service', served === undefined ? '' : httpBadge(served)],
    [`Bucket ${bucket?.name ?? ''}`, bucket ? meter(`Bucket ${bucket.name}`, bucket.used, bucket.limit) : ''],
    [
      'Builds',
      budget
        ? html`${meter('Builds this hour', budget.hour.used, budget.hour.limit, ' this hour')},
${budget.day.used} of ${budget.day.limit} today`
        : '',
    ],
  ]);
}

async function details(console: ConsoleContext, recorded: HandledRequest, now: number): Promise<Html> {
  const { id } = recorded.entry;
  const { sdk, command, curl, fetch } = await snippetsOf(recorded);
  const panels = [
    ['sdk', 'SDK', 'TypeScript, with the client', sdk],
    ['curl', 'curl', 'Shell', curl],
    ['cli', 'Command', 'Shell', command],
    ['fetch', 'fetch', 'TypeScript', fetch],
  ] as const;
  const key = recorded.headers.get('idempotency-key');
  return html`<div class="cols half">
<section aria-labelledby="request-title"><h2 id="request-title">Request</h2>${headerList(recorded.headers)}
${bodyBlock('request-body', shownBody(recorded), recorded.body?.length ?? 0, recorded.file)}</section>
<section aria-labelledby="response-title"><h2 id="response-title">Response</h2>${responseOf(recorded)}</section></div>
${key === null ? '' : live('attempts', attempts(console, recorded, key, now))}
<h2>Repeat the request</h2>
${tabs(
  'as',
  panels.flatMap(([id, label, caption, code]) =>
    code === undefined ? [] : [[id, label, codeBlock(id, caption, code)]],
  ),
)}
<p class="soft">Credentials are variables of the environment, such as <code>AUDIENCE_TOKEN</code>.</p>
<div class="acts">${sendAgain(id)}${key === null ? '' : sendWithNewKey(id)}${opener('edit', 'Edit and send…')}</div>`;
}

const sendWithNewKey = (id: string): Html =>
  actionForm({ action: 'POST /api/requests/resend', submit: 'Send with a new key', values: { id, key: 'new' } });

const IMPORTANT: readonly string[] = ['retry-after', 'www-authenticate', 'location'];
/** Headers of the connection and of browsers, which explain no response. */
const INCIDENTAL = /^(?:host|connection|content-length|accept-.*|access-control-.*)$/;

function headerList(headers: Headers): Html {
  const rank = (name: string): number => (IMPORTANT.includes(name) ? 0 : INCIDENTAL.test(name) ? 2 : 1);
  const sorted = [...headers].filter(([name]) => !name.startsWith('sec-')).sort(([a], [b]) => rank(a) - rank(b));
  return facts(
    sorted.map(([name, value]) => {
      const shown = redactHeader(name, value);
      return [
        html`<code>${name}</code>`,
        html`<code>${IMPORTANT.includes(name) ? html`<b>${shown}</b>` : html`<bdi>${shown}</bdi>`}</code>`,
      ] as const;
    }),
    'list',
  );
}

function responseOf({ entry, response, responseHeaders }: HandledRequest): Html {
  const lost = entry.status === 0 ? html`<p class="bad">The client has not received it.</p>` : '';
  if (!responseHeaders)
    return html`<p class="soft">${entry.served === undefined ? 'There was none.' : 'It was cut in the middle of its body.'}</p>`;
  const body = response === undefined ? undefined : redactBody(response);
  return html`${lost}${headerList(responseHeaders)}${bodyBlock('response-body', body, response?.length ?? 0, undefined)}`;
}

function bodyBlock(id: string, text: string | undefined, size: number, file: HandledRequest['file']): Html {
  if (text) return codeBlock(id, `Body, ${count(size)} bytes`, prettyJson(text));
  if (file) return html`<p class="soft">A file of ${count(file.size)} bytes, which is not kept.</p>`;
  return html`<p class="soft">${size > 0 ? `A body of ${count(size)} bytes, which are not text.` : 'No body, or one that is not kept.'}</p>`;
}

/** Other requests of the account with the same idempotency key, and the time between them. */
function attempts({ service, recorder }: ConsoleContext, recorded: HandledRequest, key: string, now: number): Content {
  const { account, id } = recorded.entry;
  const same = service.state.log.filter(
    (entry) => entry.account === account && recorder.find(entry)?.headers.get('idempotency-key') === key,
  );
  const record = service.state.accounts.get(account ?? '')?.idempotencyKeys.get(key);
  const kept = record?.response
    ? html`<p class="soft">Until ${timeElement(record.expiresAt, now)}, the same key and body get the stored response.</p>`
    : '';
  let before: number | undefined;
  const items = same.map((entry, index) => {
    const time = Date.parse(entry.at);
    const gap =
      before === undefined
        ? ''
        : html`<li class="gap">${time - before < 1_000 ? `${time - before} ms` : durationText(time - before)} later</li>`;
    before = time;
    const tone = entry.status === 0 || entry.status >= 500 ? 'is-bad' : entry.status >= 400 ? 'is-warn' : 'is-good';
    const link = entry.id === id ? html`<b>this request</b>` : html`<a href="/requests/${entry.id}">${entry.id}</a>`;
    const line = html`<b>${index + 1}</b> ${timeElement(entry.at, now, 12)} ${httpBadge(entry.status)} ${link}`;
    return html`${gap}<li class="${tone}"><p>${line} <span>${reasonLine(entry, now)}</span></p></li>`;
  });
  return html`<h2>Attempts with this idempotency key</h2>${kept}<ol class="steps">${items}</ol>`;
}
