import { html } from 'hono/html';
import { showActivation } from '../../routes/activation-routes.ts';
import { showAudience } from '../../routes/audience-routes.ts';
import type { Service } from '../../service.ts';
import { resultLength } from '../../storage/result-files.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type DeliveryGroup, deliveryHref, groupDeliveries, isAbout, responseBadge } from '../delivery-groups.ts';
import { codeBlock, prettyJson } from '../highlight.ts';
import { attributesOf, type Content, foreign, type Html, head, jobBadge, linkButton, live, note } from '../html.ts';
import type { Page } from '../layout.ts';
import { findResource, NAMESPACES, reasonText, relationsOf, resourceLink, type ShownResource } from '../objects.ts';
import { redactBody } from '../redact-request.ts';
import { requestsAbout } from '../request-search.ts';
import { capital, count, counted } from '../words.ts';
import { END_DIALOGS, endButton } from './jobs-page.ts';
import { timeChart } from './object-chart.ts';
import { storySection } from './object-story.ts';
import { detailsOf } from './resource-pages.ts';

export function objectPage(console: ConsoleContext, id: number, query: URLSearchParams): Page | undefined {
  const { service } = console;
  const resource = findResource(service, id);
  if (!resource) return undefined;
  const { kind, namespace, name } = resource;
  const requests = requestsAbout(console, id);
  const groups = groupDeliveries(service);
  const story = { console, resource, requests, groups: groups.filter((group) => isAbout(group, id)), query };
  const [, , text = ''] = NAMESPACES.find(([value]) => value === namespace) ?? [];
  const path = html`<a href="/resources">Resources</a> / <a href="/resources?kind=${namespace}">${text}</a>`;
  return {
    title: name === '' ? `${capital(kind)} ${id}` : name,
    content: html`<p><small>${path}</small></p>
${live('object', summaryOf(service, resource))}
${live('chart', timeChart(story, relationsOf(resource).childrenOf(id)))}
<div class="cols half"><div>${live('relations', [html`<h2>Relations</h2>`, tree(service, resource, groups)])}
${live('story', storySection(story))}</div>
${live('json', jsonOf(console, resource))}</div>
${END_DIALOGS}`,
  };
}

function summaryOf(service: Service, resource: ShownResource): readonly (Html | '')[] {
  const { id, kind, name, status, account } = resource;
  const running = service.jobs.saved.running.has(id);
  const copy = html`<button type="button" class="small quiet" data-text="${id}" aria-label="Copy the id">Copy</button>`;
  const details = detailsOf(resource, service.clock.now());
  return [
    head(name === '' ? `${capital(kind)} ${id}` : foreign(name), status ? jobBadge(status) : '', [
      running ? endButton(resource) : '',
      linkButton(`/requests?q=id:${id}&repeats=all`, 'Requests'),
    ]),
    html`<p class="hint acts"><span>${kind} <code>${id}</code> ${copy}</span>
<span>of <a href="/accounts?account=${encodeURIComponent(account.email)}"><bdi>${account.email}</bdi></a></span><span>${details}</span></p>`,
    reasonNote(service, resource),
  ];
}

function reasonNote(service: Service, resource: ShownResource): Html | '' {
  const reason = reasonText(service, resource);
  if (reason === '' || !resource.status) return '';
  const { id } = resource.status;
  const failed = resource.kind === 'lookalike' && id === 400 ? 'JobCancelledError' : 'JobFailedError';
  const error = id === 104 || id === 4 ? '' : id === 107 ? 'JobNeedsInfoError' : failed;
  const gets = error && html` A client that waits for the job throws a <code>${error}</code>.`;
  const tone = id === 107 ? 'warn' : error ? 'bad' : 'good';
  return note(tone, html`${id === 107 ? 'Needs information' : 'Ended'}: <bdi>${reason}</bdi>`, {
    details: [html`The API does not show this reason.${gets}`],
  });
}

const MAX_CHILDREN = 30;

function tree(service: Service, current: ShownResource, groups: readonly DeliveryGroup[]): Html {
  const { ancestors, childrenOf } = relationsOf(current);
  const seen = new Set<number>();
  const linesOf = ({ id }: ShownResource): Content => groups.filter((group) => isAbout(group, id)).map(deliveryLine);
  const branch = (one: ShownResource): Html | '' => {
    // List a lookalike of a lookalike only once, although it is below both.
    if (seen.has(one.id)) return '';
    seen.add(one.id);
    const children = childrenOf(one.id);
    const more = children.length - MAX_CHILDREN;
    const below = [
      linesOf(one),
      one.kind === 'activation' ? resultLines(service, one.id) : '',
      children.slice(0, MAX_CHILDREN).map(branch),
      more > 0 ? html`<li><div class="soft">and ${count(more)} more, created from it</div></li>` : '',
    ];
    return html`<li>${objectLine(one, one === current)}<ul>${below}</ul></li>`;
  };
  const below = (made: Content, one: ShownResource): Html =>
    html`<li>${objectLine(one, false)}<ul>${linesOf(one)}${made}</ul></li>`;
  return html`<ul class="tree">${ancestors.reduceRight(below, html`${branch(current)}`)}</ul>`;
}

function objectLine({ id, kind, name, status }: ShownResource, isCurrent: boolean): Html {
  const title = isCurrent ? html`<b><bdi>${name || `${kind} ${id}`}</bdi></b>` : resourceLink({ id, kind, name });
  return html`<div${attributesOf({ 'aria-current': isCurrent && 'page' })}>${title} <span class="soft">${name && `${kind} ${id}`}</span>
${status ? jobBadge(status) : ''}</div>`;
}

function deliveryLine({ event, attempts, latest }: DeliveryGroup): Html {
  const { type, endpoint } = event;
  const to = html`to <bdi>${endpoint.name}</bdi>, ${counted(attempts.length, 'attempt')}`;
  return html`<li><div><a href="${deliveryHref(event)}">${type}</a> <span class="soft">${to}</span>
${responseBadge(latest)}</div></li>`;
}

function resultLines({ state, jobs }: Service, id: number): Content {
  const file = state.results.get(id);
  if (!file && jobs.saved.running.has(id))
    return html`<li><div class="soft">The results can be downloaded once the activation is completed.</div></li>`;
  if (!file) return '';
  const size = `${count(resultLength(file))} bytes`;
  return file.streams.map(
    (name) =>
      html`<li><div><a href="/results/${id}/${name}.csv" download="${name}.csv">Download ${name}.csv</a> <span class="soft">results, ${size}</span></div></li>`,
  );
}

/** Returns what a GET of the resource returns now, without the signatures of its result files. */
function jsonOf({ service, addresses }: ConsoleContext, resource: ShownResource): Html | '' {
  const { namespace, id } = resource;
  const operation = namespace === 'poiSubmissions' ? undefined : service.operations[`${namespace}.get`];
  if (!operation) return '';
  const path = operation.path.replace('{id}', String(id));
  const label = NAMESPACES.find(([value]) => value === namespace)?.[1] ?? '';
  const data = [service.localTimes(shownBy(service, resource))];
  const message = `${capital(label)} retrieved successfully.`;
  const json = prettyJson(redactBody(JSON.stringify({ status: 'success', code: 200, message, data })));
  const hidden = json.includes('signature=…') ? ' (signatures of links are hidden)' : '';
  const headers = `-H "Authorization: Bearer $AUDIENCE_TOKEN" -H 'Accept: application/json'`;
  const copy = (text: string, code: string): Html =>
    html`<button type="button" class="quiet small" data-text="${code}" aria-label="Copy as ${text}">${text}</button>`;
  return html`<h2>JSON</h2>${codeBlock('json-text', `What ${operation.method} ${path} returns now${hidden}`, json, [
    copy('curl', `curl ${headers} '${addresses().api}${path}'`),
    copy('TypeScript', `await client.${namespace}.get(${id});`),
  ])}`;
}

function shownBy(service: Service, { namespace, account, id, fields }: ShownResource): unknown {
  const audience = namespace === 'audiences' && account.audiences.get(id);
  if (audience) return showAudience(service, audience);
  const activation = namespace === 'activations' && account.activations.get(id);
  return activation ? showActivation(service, activation, service.state.storageUrl) : fields;
}
