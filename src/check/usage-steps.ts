import { operations } from '../spec/operations.ts';
import { isObject } from '../util/json.ts';
import { noteReply, reasonOf, type Session } from './check-session.ts';
import { envelopeOf, invalidFields, isErrorEnvelope, type Reply } from './evidence.ts';

/** Formats of months, the assumed one first. */
const MONTH_FORMATS: Readonly<Record<string, (year: string, month: string) => string>> = {
  'YYYY-MM': (year, month) => `${year}-${month}`,
  YYYYMM: (year, month) => `${year}${month}`,
  'YYYY-MM-DD': (year, month) => `${year}-${month}-01`,
  'MM-YYYY': (year, month) => `${month}-${year}`,
};

/** The usage report of a month: its format, and the error of a wrong one. */
export async function checkUsage(session: Session): Promise<void> {
  const { probe, findings, candidates } = session;
  if (!candidates.working('usage.get')) return;
  session.onStep('Usage report');
  const ask = (shift: number, format: string, why: string): Promise<Reply> => {
    const date = new Date(probe.now);
    date.setUTCMonth(date.getUTCMonth() + shift, 1);
    const [year = '', month = ''] = date.toISOString().split('-');
    const yearmonth = MONTH_FORMATS[format]?.(year, month) ?? '';
    return probe.send({ method: 'GET', path: operations['usage.get'].path, query: { yearmonth }, why });
  };
  for (const format of Object.keys(MONTH_FORMATS)) {
    const past = await ask(-1, format, `a past month as ${format}`);
    if (isRefusal(past)) continue;
    if (!envelopeOf(past)) return findings.unclear('usage.yearmonth', reasonOf(past));
    const future = await ask(2, format, `a future month as ${format}`);
    if (envelopeOf(future))
      return findings.unclear('usage.yearmonth', 'The service accepts a future month: it may ignore the parameter.');
    if (!isRefusal(future)) return findings.unclear('usage.yearmonth', reasonOf(future));
    const evidence = `A past month as ${format} succeeds, a future one is refused.`;
    if (format === 'YYYY-MM') findings.set('usage.yearmonth', 'confirmed', evidence);
    else findings.set('usage.yearmonth', 'differs', evidence, queryIn(format));
    const isAsAssumed = isErrorEnvelope(future) && invalidFields(future).length > 0;
    const sentence = ['A future month', 'gets 422, and `errors` names the parameter'] as const;
    return noteReply(session, 'errors.422', future, isAsAssumed, sentence);
  }
  findings.set('usage.yearmonth', 'differs', 'A past month is refused in every form that was tried.', queryIn('…'));
}

const isRefusal = ({ status }: Reply): boolean => status === 400 || status === 404 || status === 422;

const queryIn = (format: string): string =>
  `operations: { 'usage.get': { query: ({ yearmonth, ...query }) => ({ ...query, yearmonth: /* ${format} */ yearmonth }) } }`;

const BUDGET = `operations: { 'usage.get': { data: (usage) => ({ ...usage, build_budget: { hour: { limit: …, used: … }, day: { limit: …, used: … } } }) } }`;

/** Notes whether a build budget has the assumed fields. */
export function noteBudget({ findings }: Session, budget: unknown): void {
  const isWindow = (value: unknown): boolean =>
    isObject(value) && Number.isInteger(value.limit) && Number.isInteger(value.used);
  const id = 'usage.build_budget';
  if (isObject(budget) && isWindow(budget.hour) && isWindow(budget.day))
    findings.set(id, 'confirmed', '`hour` and `day` have `limit` and `used`.');
  else findings.set(id, 'differs', '`hour` and `day`, each with `limit` and `used`, are missing.', BUDGET);
}
