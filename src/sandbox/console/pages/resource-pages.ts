import { html } from 'hono/html';
import type { JobKind } from '../../jobs.ts';
import { eligibilityOf } from '../../routes/eligibility.ts';
import type { Service } from '../../service.ts';
import { type AccountRecord, USAGE_NAMES } from '../../state.ts';
import { badge, type Content, type Html, jobBadge, live, table, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';
import { budget } from './limits-page.ts';

const MAX_MONTHS = 6;

/** Usage, build budget and notifications of an account. */
export function overviewPage({ service }: ConsoleContext, account: AccountRecord): Page {
  const { notifications, company } = account;
  return {
    title: 'Overview',
    content: live('overview', [
      html`<h2>Build budget</h2>`,
      budget(company, service.clock.now()),
      html`<h2>Usage</h2>`,
      usageTable(account),
      html`<h2>Notifications</h2>`,
      notifications.length === 0
        ? html`<p class="empty">No notifications. The service sends one when it disables a webhook endpoint.</p>`
        : html`<ul>${notifications.toReversed().map((text) => html`<li>${text}</li>`)}</ul>`,
    ]),
  };
}

function usageTable({ company }: AccountRecord): Html {
  const months = [...company.usage].slice(-MAX_MONTHS).reverse();
  return table(
    'Usage by month, the latest first',
    ['Count', ...months.map(([month]) => month)],
    months.length === 0
      ? []
      : USAGE_NAMES.map((name) => [name.replaceAll('_', ' '), ...months.map(([, counts]) => counts[name] ?? 0)]),
    'Nothing has been counted yet. Send a request to the API.',
  );
}

/** A status with the reason why the job ended, which the API does not show. */
function statusCell({ jobs }: Service, kind: JobKind, id: number, status: { id: number; name: string }): Content {
  const reason = jobs.reason(kind, id);
  return [jobBadge(status), reason === undefined ? '' : html` <span class="why">${reason}</span>`];
}

/** All resources of an account. */
export function resourcesPage({ service }: ConsoleContext, account: AccountRecord): Page {
  const now = service.clock.now();
  const newest = <T>(resources: ReadonlyMap<number, T>): T[] => [...resources.values()].reverse().slice(0, 100);
  const none = (name: string): string => `No ${name}. Create one by the API.`;
  const time = (stamp: unknown): Content =>
    typeof stamp === 'string' ? timeElement(`${stamp.replace(' ', 'T')}Z`, now) : '';
  return {
    title: 'Resources',
    content: live('resources', [
      html`<h2>Audiences and lookalikes</h2>`,
      table(
        'Audiences and lookalikes',
        ['Id', 'Name', 'Status', 'Devices', 'Eligibility', 'Created'],
        newest(account.audiences).map((audience) => [
          audience.id,
          [
            audience.name,
            audience.is_lookalike ? badge('quiet', 'lookalike') : '',
            audience.is_cohort ? badge('quiet', 'cohort') : '',
          ],
          statusCell(service, audience.is_lookalike ? 'lookalike' : 'audience', audience.id, audience.status),
          audience.results_count,
          eligibilityText(eligibilityOf(audience, now)),
          time(audience.created_at),
        ]),
        none('audiences'),
      ),
      html`<h2>Estimates</h2>`,
      table(
        'Estimates',
        ['Id', 'Name', 'Status', 'Devices'],
        newest(account.estimates).map(({ id, name, status, unique_eids }) => [
          id,
          String(name),
          statusCell(service, 'estimate', id, status),
          String(unique_eids ?? ''),
        ]),
        none('estimates'),
      ),
      html`<h2>Activations</h2>`,
      table(
        'Activations',
        ['Id', 'Description', 'Status', 'Audience', 'Partner', 'Datastreams', 'Created'],
        newest(account.activations).map(({ id, description, status, audience, partner, datastreams, created_at }) => [
          id,
          description,
          statusCell(service, 'activation', id, status),
          `${audience.id} ${audience.name}`,
          partner.name,
          datastreams.map(({ name, status: state }) => `${name}: ${state}`).join(', '),
          time(created_at),
        ]),
        none('activations'),
      ),
      html`<h2>Cohorts</h2>`,
      table(
        'Cohorts',
        ['Id', 'Name', 'Status', 'EIDs', 'Source', 'Created'],
        newest(account.cohorts).map(({ id, name, status, total_eids, source, created_at }) => [
          id,
          name,
          statusCell(service, 'cohort', id, status),
          total_eids,
          source,
          time(created_at),
        ]),
        none('cohorts'),
      ),
      html`<h2>Points of interest</h2>`,
      table(
        'Points of interest',
        ['Id', 'Rows', 'Created'],
        newest(account.poiSubmissions).map(({ id, rows, created_at }) => [id, rows, time(created_at)]),
        none('submissions'),
      ),
      html`<h2>Projects</h2>`,
      table(
        'Projects',
        ['Id', 'Name', 'Created'],
        newest(account.projects).map(({ id, name, created_at }) => [id, String(name), time(created_at)]),
        none('projects'),
      ),
      html`<h2>Schedules</h2>`,
      table(
        'Schedules',
        ['Id', 'Name', 'Interval', 'Builds'],
        newest(account.schedules).map(({ id, name, interval_hours, replays }) => [
          id,
          String(name),
          `${interval_hours ?? 24} h`,
          String(replays ?? 0),
        ]),
        none('schedules'),
      ),
    ]),
  };
}

function eligibilityText({ allowed, reasons, notices }: ReturnType<typeof eligibilityOf>): Content {
  const codes = [...reasons.map(({ code }) => code), ...notices.map(({ code }) => code)];
  return [
    badge(allowed ? 'good' : 'quiet', allowed ? 'can be activated' : 'cannot be activated'),
    ` ${codes.join(', ')}`,
  ];
}
