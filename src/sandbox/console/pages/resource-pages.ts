import { html } from 'hono/html';
import type { JobKind } from '../../jobs.ts';
import { eligibilityOf } from '../../routes/eligibility.ts';
import type { Service } from '../../service.ts';
import { type AccountRecord, USAGE_NAMES } from '../../state.ts';
import type { ConsoleContext } from '../console-context.ts';
import { commandLine } from '../highlight.ts';
import {
  badge,
  type Content,
  count,
  emptyState,
  facts,
  foreign,
  type Html,
  head,
  jobBadge,
  live,
  meter,
  note,
  timeElement,
  withoutOverrides,
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

const MAX_MONTHS = 6;

/** Usage, build budget and notifications of an account. */
export function overviewPage({ service }: ConsoleContext, account: AccountRecord): Page {
  const { notifications, company, email } = account;
  const now = service.clock.now();
  return {
    title: 'Overview',
    content: [
      head('Overview'),
      html`<p class="lead">${foreign(email)} of ${foreign(company.name)}</p>`,
      live('overview', [
        facts([
          [
            'Builds in the last hour',
            meter('Builds in the last hour', company.hourlyBuilds.count(now), company.hourlyBuilds.limit),
          ],
          [
            'Builds in the last day',
            meter('Builds in the last day', company.dailyBuilds.count(now), company.dailyBuilds.limit),
          ],
        ]),
        html`<h2>Notifications</h2>`,
        notifications.length === 0
          ? emptyState('No notifications', 'The service sends one when it disables a webhook endpoint.')
          : notifications.toReversed().map((text) => note('warn', withoutOverrides(text))),
        html`<h2>Usage</h2>`,
        usageTable(account),
      ]),
    ],
  };
}

function usageTable({ company }: AccountRecord): Content {
  const months = [...company.usage].slice(-MAX_MONTHS).reverse();
  return table(
    'Usage by month, the latest first',
    [['Count'], ...months.map(([month]) => [month, 'w7'] as const)],
    months.length === 0
      ? []
      : USAGE_NAMES.map((name) =>
          row([cell(name.replaceAll('_', ' '), 'main'), ...months.map(([, counts]) => cell(count(counts[name] ?? 0)))]),
        ),
    emptyState(
      'Nothing has been counted yet',
      'Every request and every build of the organization counts.',
      commandLine('send', 'npx aud audiences create --name Visitors --sandbox'),
    ),
  );
}

type ResourceName = 'audiences' | 'estimates' | 'activations' | 'cohorts' | 'poiSubmissions' | 'projects' | 'schedules';

/** A resource with the fields that its page shows, whatever its kind. */
interface ShownResource {
  readonly id: number;
  readonly [field: string]: unknown;
}

const KINDS: readonly (readonly [name: ResourceName, text: string])[] = [
  ['audiences', 'Audiences'],
  ['activations', 'Activations'],
  ['cohorts', 'Cohorts'],
  ['estimates', 'Estimates'],
  ['projects', 'Projects'],
  ['schedules', 'Schedules'],
  ['poiSubmissions', 'Points of interest'],
];

/** The resources of an account, of one kind at a time. */
export function resourcesPage({ service }: ConsoleContext, account: AccountRecord, query: URLSearchParams): Page {
  const path = '/account/resources';
  const [name, text] = KINDS.find(([value]) => value === query.get('kind')) ?? ['audiences', 'Audiences'];
  const resources: ShownResource[] = [...account[name].values()].map((one) => ({ ...one }));
  const words = wordsOf(query);
  const matching = resources
    .filter(
      (one) =>
        words.length === 0 || hasWords(words, `${one.id} ${JSON.stringify(one)} ${reasonOf(service, name, one) ?? ''}`),
    )
    .reverse();
  const page = pageOf(
    matching,
    query,
    ({ id }, cursor) => id < Number(cursor),
    ({ id }) => String(id),
  );
  const kinds = KINDS.map(([value, label], index) => [index === 0 ? '' : value, label, account[value].size] as const);
  return {
    title: 'Resources',
    content: html`${head('Resources', live('kinds', segments('Kind', path, query, 'kind', kinds)))}
${filterForm(path, query, { label: 'Filter of resources', placeholder: 'Id, name, status, reason or any other field', kept: ['kind'] })}
${live('resources', [
  table(
    `${text}, the newest first`,
    [['Id', 'w4'], ['Name'], ['Status', 'w12'], ['Details', 'w18 lo'], ['Created', 'w11 lo']],
    page.rows.map((one) => rowOf(service, account, name, one)),
    resources.length === 0
      ? emptyState(`No ${text.toLowerCase()}`, 'A create of the API adds one.', commandLine('create', COMMANDS[name]))
      : noMatch(path, text.toLowerCase(), resources.length),
  ),
  pager(path, query, page),
])}`,
  };
}

const COMMANDS: Readonly<Record<ResourceName, string>> = {
  audiences: 'npx aud audiences create --name Visitors --sandbox',
  activations: 'npx aud activations create --audience-id <id of a completed audience> --sandbox',
  cohorts: 'npx aud cohorts create --name Customers --sandbox',
  estimates: 'npx aud estimates create --name Visitors --sandbox',
  projects: 'npx aud projects create --name Spring --sandbox',
  schedules: 'npx aud schedules create --name Weekly --sandbox',
  poiSubmissions: `npx aud request POST /api/v2/poi_submissions/create -d '{"upload_reference":"<of an upload>"}' --sandbox`,
};

const JOB_KINDS: Readonly<Partial<Record<ResourceName, JobKind>>> = {
  estimates: 'estimate',
  activations: 'activation',
  cohorts: 'cohort',
};

/** Returns why a job ended, which the API does not show. */
function reasonOf({ jobs }: Service, name: ResourceName, { id, is_lookalike }: ShownResource): string | undefined {
  const kind = name === 'audiences' ? (is_lookalike ? 'lookalike' : 'audience') : JOB_KINDS[name];
  return kind && jobs.reason(kind, id);
}

function rowOf(service: Service, account: AccountRecord, name: ResourceName, resource: ShownResource): Html {
  const now = service.clock.now();
  const { id, status, created_at, is_lookalike, is_cohort } = resource;
  const label = [is_lookalike ? badge('', 'lookalike') : '', is_cohort ? badge('', 'cohort') : ''];
  const title = String(resource.name ?? resource.description ?? '');
  const reason = reasonOf(service, name, resource);
  const isStatus = (value: unknown): value is { id: number; name: string } =>
    typeof value === 'object' && value !== null && 'id' in value;
  return row([
    cell(id),
    twoLines([foreign(title), label], reason === undefined ? '' : foreign(reason), 'main'),
    cell(isStatus(status) ? jobBadge(status) : '', 'side2'),
    cell(detailsOf(account, name, resource, now), 'lo'),
    cell(typeof created_at === 'string' ? timeElement(`${created_at.replace(' ', 'T')}Z`, now) : '', 'lo'),
  ]);
}

/** Returns what is worth to know of a resource of its kind. */
function detailsOf(account: AccountRecord, name: ResourceName, resource: ShownResource, now: number): Content {
  const { id, total_eids, unique_eids, interval_hours, replays, rows } = resource;
  if (name === 'cohorts') return `${count(Number(total_eids))} EIDs`;
  if (name === 'estimates') return unique_eids === undefined ? '' : `${count(Number(unique_eids))} devices`;
  if (name === 'schedules') return `every ${String(interval_hours ?? 24)} h, ${String(replays ?? 0)} builds`;
  if (name === 'poiSubmissions') return `${count(Number(rows))} rows`;
  const audience = account.audiences.get(id);
  if (name === 'audiences' && audience) {
    const { allowed, reasons, notices } = eligibilityOf(audience, now);
    const codes = [...reasons, ...notices].map(({ code }) => code).join(', ');
    const text = `${count(audience.results_count)} devices, ${allowed ? 'can be activated' : 'cannot be activated'}${codes && `: ${codes}`}`;
    return html`<span title="${text}">${text}</span>`;
  }
  const activation = account.activations.get(id);
  if (name !== 'activations' || !activation) return '';
  const streams = activation.datastreams.map(({ name: stream, status }) => `${stream}: ${status}`).join(', ');
  return foreign(`audience ${activation.audience.id} to ${activation.partner.name}, ${streams}`);
}
