import { html } from 'hono/html';
import { eligibilityOf } from '../../routes/eligibility.ts';
import type { Service } from '../../service.ts';
import type { AccountRecord } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { commandLine } from '../highlight.ts';
import {
  badge,
  type Content,
  count,
  emptyState,
  foreign,
  type Html,
  head,
  jobBadge,
  live,
  timeElement,
} from '../html.ts';
import type { Page } from '../layout.ts';
import {
  cell,
  filterForm,
  hasWords,
  noMatch,
  pageOf,
  pager,
  row,
  segments,
  table,
  twoLines,
  wordsOf,
} from '../lists.ts';
import { NAMESPACES, type Namespace, reasonOf, resourcesOf, type ShownResource } from '../objects.ts';
import { valueText } from '../request-search.ts';

/** Where resources are listed, and of which accounts. */
interface ResourceList {
  readonly path: string;
  readonly accounts: readonly AccountRecord[];
  /** `true` if each has a page, which is the operator's. */
  readonly isLinked: boolean;
}

/** The resources of the sandbox. */
export const allResourcesPage = ({ service }: ConsoleContext, query: URLSearchParams): Page =>
  resourcesPage(service, query, { path: '/resources', accounts: [...service.state.accounts.values()], isLinked: true });

/** The resources of an account. */
export const ownResourcesPage = ({ service }: ConsoleContext, account: AccountRecord, query: URLSearchParams): Page =>
  resourcesPage(service, query, { path: '/account/resources', accounts: [account], isLinked: false });

/** The resources of one kind at a time. */
function resourcesPage(service: Service, query: URLSearchParams, { path, accounts, isLinked }: ResourceList): Page {
  const namespace = NAMESPACES.find(([value]) => value === query.get('kind')) ?? NAMESPACES[0];
  const [name, , text] = namespace;
  const resources = accounts.flatMap((account) => resourcesOf(account, namespace)).sort((a, b) => b.id - a.id);
  const words = wordsOf(query);
  const matching = resources.filter(
    (one) =>
      words.length === 0 ||
      hasWords(words, `${one.account.email} ${valueText(one.fields)} ${reasonOf(service, one) ?? ''}`),
  );
  const page = pageOf(
    matching,
    query,
    ({ id }, cursor) => id < Number(cursor),
    ({ id }) => String(id),
  );
  const sizeOf = (value: Namespace): number => accounts.reduce((sum, account) => sum + account[value].size, 0);
  const kinds = NAMESPACES.map(([value, , label], index) => [index === 0 ? '' : value, label, sizeOf(value)] as const);
  return {
    title: 'Resources',
    content: html`${head('Resources', live('kinds', segments('Kind', path, query, 'kind', kinds)))}
${filterForm(path, query, { label: 'Filter of resources', placeholder: 'Id, name, status, reason or any other value', kept: ['kind'] })}
${live('resources', [
  table(
    `${text}, the newest first`,
    [
      ['Id', 'w4'],
      ['Name'],
      ['Status', 'w12'],
      ['Details', 'w18 lo'],
      ...(accounts.length > 1 ? [['Account', 'w9 lo'] as const] : []),
      ['Created', 'w11 lo'],
    ],
    page.rows.map((one) => rowOf(service, one, isLinked, accounts.length > 1)),
    resources.length === 0
      ? emptyState(`No ${text.toLowerCase()}`, 'A create of the API adds one.', commandLine('create', COMMANDS[name]))
      : noMatch(path, text.toLowerCase(), resources.length),
  ),
  pager(path, query, page),
])}`,
  };
}

const COMMANDS: Readonly<Record<Namespace, string>> = {
  audiences: 'npx aud audiences create --name Visitors --sandbox',
  activations: 'npx aud activations create --audience-id <id of a completed audience> --sandbox',
  cohorts: 'npx aud cohorts create --name Customers --sandbox',
  estimates: 'npx aud estimates create --name Visitors --sandbox',
  projects: 'npx aud projects create --name Spring --sandbox',
  schedules: 'npx aud schedules create --name Weekly --sandbox',
  poiSubmissions: `npx aud request POST /api/v2/poi_submissions/create -d '{"upload_reference":"<of an upload>"}' --sandbox`,
};

function rowOf(service: Service, resource: ShownResource, isLinked: boolean, hasAccount: boolean): Html {
  const now = service.clock.now();
  const { id, kind, name, status, fields, account } = resource;
  const label = [kind === 'lookalike' ? badge('', 'lookalike') : '', fields.is_cohort ? badge('', 'cohort') : ''];
  const reason = reasonOf(service, resource);
  const { created_at } = fields;
  return row([
    cell(id),
    twoLines(
      [isLinked ? html`<a class="row" href="/resources/${id}">${foreign(name)}</a>` : foreign(name), label],
      reason === undefined ? '' : foreign(reason),
      'main',
    ),
    cell(status ? jobBadge(status) : '', 'side2'),
    cell(detailsOf(resource, now), 'lo'),
    ...(hasAccount ? [cell(foreign(account.email), 'lo')] : []),
    cell(typeof created_at === 'string' ? timeElement(`${created_at.replace(' ', 'T')}Z`, now) : '', 'lo'),
  ]);
}

/** Returns what is worth to know of a resource of its kind. */
export function detailsOf({ namespace, account, id, fields }: ShownResource, now: number): Content {
  const { total_eids, unique_eids, interval_hours, replays, rows } = fields;
  if (namespace === 'cohorts') return `${count(Number(total_eids))} EIDs`;
  if (namespace === 'estimates') return unique_eids === undefined ? '' : `${count(Number(unique_eids))} devices`;
  if (namespace === 'schedules') return `every ${String(interval_hours ?? 24)} h, ${String(replays ?? 0)} builds`;
  if (namespace === 'poiSubmissions') return `${count(Number(rows))} rows`;
  const audience = account.audiences.get(id);
  if (namespace === 'audiences' && audience) {
    const { allowed, reasons, notices } = eligibilityOf(audience, now);
    const codes = [...reasons, ...notices].map(({ code }) => code).join(', ');
    const can = allowed ? 'can be activated' : 'cannot be activated';
    const text = `${count(audience.results_count)} devices, ${can}${codes && `: ${codes}`}`;
    return html`<span title="${text}">${text}</span>`;
  }
  const activation = account.activations.get(id);
  if (namespace !== 'activations' || !activation) return '';
  const streams = activation.datastreams.map(({ name: stream, status }) => `${stream}: ${status}`).join(', ');
  return foreign(`audience ${activation.audience.id} to ${activation.partner.name}, ${streams}`);
}
