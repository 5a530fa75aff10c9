import { html } from 'hono/html';
import type { Audience } from '../../../spec/audience.ts';
import { eligibilityOf, minDevicesOf } from '../../routes/eligibility.ts';
import type { Service } from '../../service.ts';
import type { ConsoleContext } from '../console-context.ts';
import {
  badge,
  type Content,
  emptyState,
  foreign,
  type Html,
  head,
  jobBadge,
  jobTone,
  live,
  timeElement,
} from '../html.ts';
import type { Page } from '../layout.ts';
import { accountColumn, type Column, listView, type Segment, search, segments } from '../lists.ts';
import { NAMESPACES, reasonText, resourceLink, resourcesOf, type ShownResource } from '../objects.ts';
import { valueText } from '../request-search.ts';
import { shownAccounts } from '../shown-accounts.ts';
import { count, serviceTime } from '../words.ts';
import { SEND } from './requests-page.ts';

const PATH = '/resources';

export function resourcesPage(console: ConsoleContext, query: URLSearchParams): Page {
  const { service } = console;
  const accounts = shownAccounts(console, query);
  const found = NAMESPACES.map((one) => {
    const all = [...service.state.accounts.values()].flatMap((account) => resourcesOf(account, one));
    const shown = all.filter(({ account }) => accounts.includes(account));
    return { one, all, matching: search(shown, query, (resource) => textOf(service, resource)) };
  });
  const listed = found.filter(({ one: [value], all }) => all.length > 0 || value === query.get('kind'));
  const isChosen = ({ one: [value] }: (typeof listed)[number]): boolean => value === query.get('kind');
  const current = listed.find(isChosen) ?? listed.find(({ matching }) => matching.length > 0) ?? listed[0];
  const { one, all, matching } = current ?? { one: NAMESPACES[0], all: [], matching: [] };
  const [namespace, , text] = one;
  const view = new URLSearchParams({ ...Object.fromEntries(query), kind: namespace });
  const things = text.toLowerCase();
  const kinds = listed.map(({ one: [value, , label], matching }): Segment => [value, label, matching.length]);
  const list = listView({
    path: PATH,
    query: view,
    id: 'resources',
    things,
    placeholder: 'Name, id, status, reason or other value',
    matching: matching.toSorted((a, b) => b.id - a.id),
    total: all.length,
    keyOf: ({ id }) => id,
    caption: `${text}, newest first`,
    columns: columnsOf(service, accounts.length > 1),
    empty: emptyState(`No ${things}`, 'What your program creates appears here.', SEND),
  });
  const choices = live('kinds', kinds.length > 0 ? segments('Kind', PATH, view, 'kind', kinds) : '');
  return { title: 'Resources', content: [head('Resources', choices), list] };
}

const textOf = (service: Service, one: ShownResource): string =>
  `${one.account.email} ${valueText(one.fields)} ${reasonText(service, one)}`;

function columnsOf(service: Service, hasAccount: boolean): readonly Column<ShownResource>[] {
  const now = service.clock.now();
  return [
    ['Name', '', (one) => nameCell(service, one), 'main'],
    ['Status', 'w4', ({ status }) => (status ? jobBadge(status) : ''), 'state'],
    ['Details', 'w5', (one) => detailsOf(one, now), 'full'],
    ...accountColumn<ShownResource>(hasAccount, ({ account }) => account.email),
    ['Created', 'w4', ({ fields }) => timeElement(serviceTime(fields.created_at) ?? 0, now)],
  ];
}

function nameCell(service: Service, resource: ShownResource): Html {
  const reason = reasonText(service, resource);
  return html`${resourceLink(resource)} <small>${resource.name && `${resource.kind} ${resource.id}`}</small>
${resource.fields.is_cohort ? badge('', 'cohort') : ''} ${reason && html`<small>${foreign(reason)}</small>`}`;
}

/** Returns the number of devices, and what the service says about an activation. An unfinished audience has neither. */
function eligibilityText(audience: Audience, now: number): string {
  const tone = jobTone(audience.status.id);
  const devices = `${count(audience.results_count)} devices`;
  if (tone !== 'good') return tone === 'busy' ? '' : devices;
  const { allowed, notices } = eligibilityOf(audience, now);
  const min = minDevicesOf(audience);
  if (audience.results_count < min) return `${devices}, cannot be activated: at least ${count(min)} are needed`;
  if (!allowed) return `${devices}, cannot be activated: the unique EIDs must exceed twice the unique SCIDs`;
  return `${devices}, can be activated${notices.length > 0 ? ', but has expired for MAID and IP' : ''}`;
}

export function detailsOf({ namespace, account, id, fields }: ShownResource, now: number): Content {
  const { total_eids, unique_eids, interval_hours, replays, rows } = fields;
  if (namespace === 'cohorts') return `${count(Number(total_eids))} EIDs`;
  if (namespace === 'estimates') return typeof unique_eids !== 'number' ? '' : `${count(unique_eids)} devices`;
  if (namespace === 'schedules') return `every ${String(interval_hours ?? 24)} h, ${String(replays ?? 0)} builds`;
  if (namespace === 'poiSubmissions') return `${count(Number(rows))} rows`;
  const audience = account.audiences.get(id);
  if (namespace === 'audiences' && audience) return foreign(eligibilityText(audience, now), ' ');
  const activation = account.activations.get(id);
  if (namespace !== 'activations' || !activation) return '';
  const streams = activation.datastreams.map(({ name: stream, status }) => `${stream}: ${status}`).join(', ');
  return foreign(`audience ${activation.audience.id} to ${activation.partner.name}, ${streams}`);
}
