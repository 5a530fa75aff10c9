import type { FieldErrors } from '../errors/error-details.ts';
import { isJsonRpcId } from '../http/index.ts';
import { LOOKALIKE_TARGET_SIZE, WEB_VISITATION_LOOKBACK_DAYS } from '../spec/limits.ts';
import { isObject } from '../util/json.ts';

const DAY = 86_400_000;

/** Clocks and time zones differ: what is a day too early may still be in time at the service. */
const GRACE_DAYS = 1;

/**
 * WebDomain datasets that start before the service's look-back window ("Rules known for creates",
 * rule 3). Anything that is not certain passes; the service decides.
 */
export function datasetErrors(body: unknown, now: number): FieldErrors {
  const earliest = now - (WEB_VISITATION_LOOKBACK_DAYS + GRACE_DAYS) * DAY;
  const errors: Record<string, string[]> = {};
  const dataset = isObject(body) && Array.isArray(body.dataset) ? body.dataset : [];
  for (const [at, one] of dataset.entries()) {
    if (!isObject(one) || one.analysis_type !== 'WebDomain' || typeof one.start_date !== 'string') continue;
    // The end of the day, anywhere: earlier than this is too early in every time zone.
    if (/^\d{4}-\d{2}-\d{2}$/.test(one.start_date) && Date.parse(one.start_date) + DAY <= earliest) {
      errors[`dataset.${at}.start_date`] = [
        `${one.start_date} is before the ${WEB_VISITATION_LOOKBACK_DAYS}-day window of WebDomain data.`,
      ];
    }
  }
  return errors;
}

/** A lookalike's `config.target_size`, where given ("Rules known for creates", rule 5). */
export function targetSizeErrors(body: unknown): FieldErrors {
  const config = isObject(body) && isObject(body.config) ? body.config : {};
  const { target_size } = config;
  const { min, max } = LOOKALIKE_TARGET_SIZE;
  const right =
    typeof target_size === 'number' && Number.isInteger(target_size) && target_size >= min && target_size <= max;
  if (target_size === undefined || right) return {};
  return { 'config.target_size': [`must be an integer from ${min} to ${max}.`] };
}

/** What keeps a value from being one message of JSON-RPC 2.0: a request, a notification or a response. */
export function messageErrors(message: unknown): FieldErrors {
  if (!isObject(message)) return { message: ['must be an object: one message of JSON-RPC 2.0.'] };
  const { jsonrpc, id, method, result, error } = message;
  const errors: Record<string, string[]> = {};
  const answers = method === undefined && (result !== undefined || error !== undefined);
  if (jsonrpc !== '2.0') errors.jsonrpc = ['must be "2.0".'];
  if (!answers && (typeof method !== 'string' || method === ''))
    errors.method = ['must be a text such as "tools/list".'];
  if ((id !== undefined || (answers && error === undefined)) && !isJsonRpcId(id)) {
    errors.id = ['must be a text or an integer; a notification has none.'];
  }
  return errors;
}
