import type { FieldErrors } from '../../errors/error-details.ts';
import { EARLIEST_USAGE_MONTH } from '../../spec/limits.ts';
import type { BuildBudget, Usage } from '../../spec/usage-report.ts';
import { refusePromises } from '../../util/input-checks.ts';
import { isObject, jsonTypeOf } from '../../util/json.ts';
import { emit } from '../../util/run-hooks.ts';
import type { CallOptions, RequestOptions } from '../http/request-options.ts';
import type { ApiPromise, Transport } from '../http/transport.ts';
import type { DecodeContext } from '../schemas/decode.ts';
import { decodeOne } from '../schemas/decode.ts';
import { usageQuerySchema } from '../schemas/queries.ts';
import { usageResource } from '../schemas/usage-schema.ts';
import { warnOfMisspeltFields } from './misspelt-fields.ts';

/** Query of a usage report. */
export interface UsageParams {
  /** Month as `YYYY-MM` (assumed format), from 2020-01 to the current month. @default the current month in UTC */
  readonly yearmonth?: string | undefined;
}

const decodeUsage = decodeOne(usageResource);
const DAY = 86_400_000;

const monthOf = (time: number): string => new Date(time).toISOString().slice(0, 7);

/**
 * Returns errors for months that the service certainly rejects. Ignores other formats than `YYYY-MM`, which the service
 * may accept.
 */
function monthErrors(yearmonth: string, now: number): FieldErrors {
  if (!/^\d{4}-\d{2}$/.test(yearmonth)) return {};
  if (yearmonth < EARLIEST_USAGE_MONTH) return { yearmonth: [`must not be before ${EARLIEST_USAGE_MONTH}.`] };
  return yearmonth > monthOf(now + DAY) ? { yearmonth: ['must not be in the future.'] } : {};
}

/** Reads the usage report of a month, or a part of the report. */
export function readUsage<T>(
  transport: Transport,
  params: UsageParams,
  options: CallOptions | undefined,
  select: (usage: Usage, context: DecodeContext) => T,
): ApiPromise<T> {
  const yearmonth = params?.yearmonth ?? monthOf(Date.now());
  return transport.call('usage.get', {
    query: { yearmonth },
    options,
    validate: () => {
      refusePromises('params', params);
      warnOfMisspeltFields('usage.get', params, usageQuerySchema, transport);
      return monthErrors(yearmonth, Date.now());
    },
    decode: async (data, context) => {
      const usage = await decodeUsage(data, context);
      if (isObject(usage.build_budget)) emit(transport.settings, 'onBuildBudget', () => usage.build_budget);
      return select(usage, context);
    },
  });
}

/** Usage reports and the build budget. */
export class UsageReports {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the usage report of a month. */
  get(params: UsageParams = {}, options?: RequestOptions): ApiPromise<Usage> {
    return readUsage(this.#transport, params, options, (usage) => usage);
  }

  /** Returns the current build budget: the limits, and the numbers of builds in the rolling hour and day. */
  buildBudget(options?: RequestOptions): ApiPromise<BuildBudget> {
    return readUsage(this.#transport, {}, options, ({ build_budget }, context) => {
      if (isObject(build_budget)) return build_budget;
      throw context.fail(`\`build_budget\` is ${jsonTypeOf(build_budget)}, but must be an object`);
    });
  }
}
