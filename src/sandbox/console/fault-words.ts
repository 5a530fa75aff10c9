import type { FaultRule } from '../faults.ts';

/** A rule as a form has it. */
export type PlainRule = Omit<FaultRule, 'on'> & { readonly on?: string | undefined };

/** Faults that are wanted most, each with the fields that somebody may change. */
export const PRESETS: readonly (readonly [text: string, rule: PlainRule])[] = [
  ['Rate limited', { on: 'audiences.create', status: 429, retryAfter: 30, times: 1 }],
  ['Response lost', { on: 'audiences.create', cut: 'after', times: 1 }],
  ['Half a response', { on: 'audiences.list', malformed: true, times: 1 }],
  ['503, three times', { on: 'audiences.create', status: 503, times: 3 }],
  ['Slow', { on: 'audiences.list', delay: 5_000, times: 1 }],
];

function subjectOf({ on, times, rate = 1 }: PlainRule): string {
  const name = on || 'request';
  const share = rate < 1 ? `, with a probability of ${rate * 100} %,` : '';
  if (times === undefined) return `Every ${name}${share}`;
  return times === 1 ? `The next ${name}${share}` : `Each of the next ${times} ${name}${share}`;
}

function effectsOf({ status, retryAfter, cut, malformed, maxAge, delay, inFlight }: PlainRule): string[] {
  const cuts = {
    before: 'is cut before the service acts',
    after: 'is served, but its response is lost',
    body: 'is cut in the middle of the response',
  };
  return [
    ...(delay ? [`waits for ${delay / 1_000} s`] : []),
    ...(inFlight ? [`stays in flight for ${inFlight / 1_000} s, if it has an Idempotency-Key`] : []),
    ...(status ? [`gets ${status}${retryAfter === undefined ? '' : ` with Retry-After ${retryAfter} s`}`] : []),
    ...(cut ? [cuts[cut]] : []),
    ...(malformed ? ['gets half of the response'] : []),
    ...(maxAge === undefined ? [] : [`gets a response that caches keep for ${maxAge} s`]),
  ];
}

/** Explains the reaction of the client to an incomplete response. */
export const LOST = "Your client sends it again if that is safe, or throws an error with outcome: 'unknown'.";

function clientText({ status, cut, malformed }: PlainRule): string {
  if (status === 429) return "Your client throws RateLimitError with outcome: 'refused', or waits and sends it again.";
  if (status !== undefined && status >= 500)
    return "Your client sends it again, or throws ServerError with outcome: 'unknown'.";
  if (status !== undefined) return 'Your client throws the error of this status.';
  if (cut || malformed) return LOST;
  return 'Your client waits, or gives up after its timeout.';
}

/** Fields of a rule, in the order of the command's flags, whose names are the same with hyphens. */
const FIELDS = ['on', 'status', 'retryAfter', 'cut', 'malformed', 'delay', 'inFlight', 'rate', 'times'] as const;

/** Returns the flag of the command for a field of a rule; an empty string if the rule does not have it. */
function flagOf(rule: PlainRule, field: (typeof FIELDS)[number]): string {
  const value = rule[field];
  if (value === undefined) return '';
  const flag = ` --${field.replace(/[A-Z]/, '-$&').toLowerCase()}`;
  if (value === true) return flag;
  const text = `${String(value)}${field === 'delay' || field === 'inFlight' ? 'ms' : ''}`;
  return `${flag} ${/[^\w./*-]/.test(text) ? `'${text}'` : text}`;
}

/** Returns what a rule does in words, and the command that adds it. */
export function describeRule(rule: PlainRule, api: string): Readonly<Record<'title' | 'client' | 'command', string>> {
  const effects = effectsOf(rule);
  const command = `AUDIENCE_BASE_URL=${api} npx aud sandbox fault add${FIELDS.map((field) => flagOf(rule, field)).join('')}`;
  if (effects.length > 0)
    return { title: `${subjectOf(rule)} ${effects.join(', and ')}.`, client: clientText(rule), command };
  const client = 'Choose a status, a cut, half of the response, a delay, or creates in flight.';
  return { title: 'Nothing goes wrong yet.', client, command };
}
