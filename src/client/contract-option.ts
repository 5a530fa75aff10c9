import { check } from '../errors/audience-error.ts';
import type { Paging, ServiceContract } from '../spec/contract.ts';
import { formatValue } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import {
  anyOption,
  booleanOption,
  choice,
  integer,
  nestedOptions,
  optional,
  optionOf,
  requiredChoice,
  requiredString,
  stringOption,
  valueOption,
} from '../util/options.ts';
import { isTimeZone } from '../util/timestamps.ts';

export const timeZoneOption = valueOption(
  (value) => isTimeZone(String(value)),
  'must be a time zone, e.g. "UTC" or "Europe/Berlin"',
);

export const headerNameOption = valueOption(
  (value) => typeof value === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(value),
  'must be a header name',
);

export const viaOption = choice('list', 'get');

/** Returns whether a value is a path in the envelope, such as `data.item`. */
export const isEnvelopePath = (value: unknown): boolean =>
  typeof value === 'string' && /^[\w$-]+(\.[\w$-]+)*$/.test(value);

const STATUS = /^(audience|lookalike|estimate|activation|cohort) \d+ (running|completed|needs-info|failed|cancelled)$/;

/** Checks an object that maps kinds of jobs and status ids to states. */
const statusesOption = optional((value, path) => {
  const message = `\`${path}\` must be an object like { "audience 106": "failed" }, not `;
  for (const entry of isObject(value) ? Object.entries(value) : [[value]])
    check(STATUS.test(entry.join(' ')), `${message}${entry.map(formatValue).join(': ')}.`);
});

/** Schema of a contract. The check of the overrides covers the content of `operations`. */
export const contractOption = nestedOptions<ServiceContract>({
  $schema: stringOption,
  operations: optionOf(isObject, 'must be an object'),
  paging: nestedOptions<Paging>({
    style: requiredChoice('page', 'offset', 'cursor'),
    param: requiredString,
    size: optional(requiredString),
    maxSize: optional(integer(1)),
    next: anyOption,
  }),
  statuses: statusesOption,
  serverTimeZone: timeZoneOption,
  requestIdHeader: headerNameOption,
  waits: nestedOptions({ via: viaOption }),
  results: nestedOptions({ redirect: booleanOption, bearer: booleanOption }),
  checked: anyOption,
});

/**
 * Returns the paging of a checked contract.
 *
 * @throws {ConfigurationError} if the contract lacks the path of the next cursor.
 */
export function pagingOf({ paging }: ServiceContract): Paging | undefined {
  check(
    paging?.style !== 'cursor' || isEnvelopePath(paging.next),
    `\`contract.paging.next\` must be the path of the next cursor, e.g. "data.next", not ${formatValue(paging?.next)}.`,
  );
  return paging;
}
