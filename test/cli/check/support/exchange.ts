import type { OperationName } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { isObject } from '../../../../src/util/json.ts';
import type { Timeline } from './timeline.ts';

/** A request, as a variant service understands it. */
export interface Call {
  readonly method: string;
  /** Path below the base URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The JSON body; `undefined` if there is none. */
  readonly body: unknown;
  /** The operation that the service has at this method and path. */
  readonly operation: OperationName | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** A response: JSON, or the text of a page. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Parts of a service that traits use. */
export interface Surroundings {
  readonly timeline: Timeline;
  /** Has the service act on a request as it would without the trait that asks. */
  perform(call: Call): Promise<Answer>;
}

/** One way in which a service differs. A new one is created for each service, because it may count requests. */
export interface Trait {
  /** Answers a request instead of the service. */
  answer?(call: Call, surroundings: Surroundings): Answer | undefined | Promise<Answer | undefined>;
  /** Changes what the service reads of a request. */
  read?(call: Call): Call;
  /** Changes each resource and each row of a list. */
  resource?(resource: JsonObject, call: Call): JsonObject;
  /** Changes a response, after its data were put where the contract says. */
  write?(answer: Answer, call: Call): Answer;
  /** Answers a request to the storage of files. */
  storage?(request: Request): Response | undefined;
}

/** Creates a JSON answer. */
export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body,
});

/** Creates an error in the documented envelope. */
export const failure = (status: number, message: string, fields: object = {}): Answer =>
  json(status, { status: 'error', code: status, message, data: [], ...fields });

/** Creates a page. */
export const page = (status: number, title: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
  body: `<!doctype html><html><head><title>${title}</title></head><body><h1>${title}</h1><p>CANARY ${status}</p></body></html>`,
});

/** Returns a response with other fields in its JSON body. */
export const withBody = (answer: Answer, change: (body: JsonObject) => unknown): Answer =>
  isObject(answer.body) ? { ...answer, body: change(answer.body) } : answer;

/** Sets what is at a path such as `data.items`, in a copy. */
export function setAt(target: JsonObject, path: string, value: unknown): JsonObject {
  const [key = '', ...rest] = path.split('.');
  const inner = target[key];
  return { ...target, [key]: rest.length === 0 ? value : setAt(isObject(inner) ? inner : {}, rest.join('.'), value) };
}

/** Calls back with every string in a JSON value, and returns a copy with what it returns. */
export function mapStrings(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((entry) => mapStrings(entry, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, mapStrings(entry, change)]));
}
