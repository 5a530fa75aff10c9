import { operations } from '../spec/operations.ts';
import { isObject } from '../util/json.ts';
import { formOf, reasonOf, type Session } from './check-session.ts';
import { envelopeOf, invalidFields, isErrorEnvelope, objectWith, type Reply } from './evidence.ts';

const USAGE = operations['usage.get'].path;

/** Formats of months, the assumed one first. */
const MONTH_FORMATS: Readonly<Record<string, (year: string, month: string) => string>> = {
  'YYYY-MM': (year, month) => `${year}-${month}`,
  YYYYMM: (year, month) => `${year}${month}`,
  'YYYY/MM': (year, month) => `${year}/${month}`,
  'YYYY-MM-DD': (year, month) => `${year}-${month}-01`,
  'MM-YYYY': (year, month) => `${month}-${year}`,
  'MM/YYYY': (year, month) => `${month}/${year}`,
};

/** The usage report: format of months, the error of a wrong one, fields of the build budget. */
export async function checkUsage(session: Session): Promise<void> {
  const { probe, findings } = session;
  if (!session.working.has('usage.get')) return;
  session.onStep('Usage report');
  const ask = (yearmonth: string, why: string) => probe.send({ method: 'GET', path: USAGE, query: { yearmonth }, why });
  const monthAt = (at: number, shift: number): [string, string] => {
    const date = new Date(at);
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + shift);
    const [year = '', month = ''] = date.toISOString().split('-');
    return [year, month];
  };
  for (const [format, write] of Object.entries(MONTH_FORMATS)) {
    const past = await ask(write(...monthAt(probe.now, -1)), `a past month as ${format}`);
    if (!envelopeOf(past)) {
      if (past.status !== 422 && past.status !== 400 && past.status !== 404)
        return findings.unclear('usage.yearmonth', reasonOf(past));
      continue;
    }
    const future = await ask(write(...monthAt(probe.now, 2)), `a future month as ${format}`);
    if (envelopeOf(future)) {
      findings.unclear('usage.yearmonth', 'The service accepts a future month: it may ignore the parameter.');
      return;
    }
    const evidence = `A past month as ${format} succeeds, a future one is refused.`;
    if (format === 'YYYY-MM') findings.set('usage.yearmonth', 'confirmed', evidence);
    else findings.set('usage.yearmonth', 'differs', evidence, overrideFor(format));
    noteInvalid(session, future);
    return;
  }
  findings.set('usage.yearmonth', 'differs', 'A past month is refused in every form that was tried.', overrideFor('…'));
}

const overrideFor = (format: string): string =>
  `operations: { 'usage.get': { query: ({ yearmonth, ...query }) => ({ ...query, yearmonth: /* ${format} */ yearmonth }) } }`;

function noteInvalid({ findings }: Session, reply: Reply): void {
  const fields = invalidFields(reply);
  if (fields && isErrorEnvelope(reply) && fields.length > 0)
    findings.set('errors.422', 'confirmed', 'A future month gets 422, and `errors` names the parameter.');
  else if (reply.status >= 400 && reply.status < 500)
    findings.set('errors.422', 'differs', `A future month gets ${formOf(reply)}.`);
}

/** Fields of the build budget. */
export async function checkBudget({ probe, findings, working }: Session): Promise<void> {
  if (!working.has('usage.get')) return;
  const reply = await probe.send({ method: 'GET', path: USAGE, why: 'fields of the build budget' });
  const budget = objectWith(envelopeOf(reply), ['build_budget'])?.value.build_budget;
  if (budget === undefined) return;
  const isWindow = (value: unknown): boolean =>
    isObject(value) && Number.isInteger(value.limit) && Number.isInteger(value.used);
  if (isObject(budget) && isWindow(budget.hour) && isWindow(budget.day))
    findings.set('usage.build_budget', 'confirmed', '`hour` and `day` have `limit` and `used`.');
  else
    findings.set(
      'usage.build_budget',
      'differs',
      '`hour` and `day`, each with `limit` and `used`, are missing.',
      `operations: { 'usage.get': { data: (usage) => ({ ...usage, build_budget: { hour: { limit: …, used: … }, day: { limit: …, used: … } } }) } }`,
    );
}
