import type { OperationName } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { isObject } from '../../../../src/util/json.ts';
import { type Answer, type Call, failure, page, type Service, type Trait, withBody } from './service.ts';

type Create = () => Trait;

/** Answers what a function answers. */
export const answers =
  (answer: (call: Call, service: Service) => Answer | undefined): Create =>
  () => ({ answer });

/** Changes responses with status 200 to operations. */
export const changes =
  (operations: RegExp, change: (body: JsonObject) => unknown): Create =>
  () => ({
    write: (answer, { operation = '' }) =>
      operations.test(operation) && answer.status === 200 ? withBody(answer, change) : answer,
  });

/** Changes resources and rows. */
export const shows =
  (change: (resource: JsonObject, call: Call) => JsonObject): Create =>
  () => ({ resource: change });

/** Changes responses with an error status. */
export const refuses =
  (status: number, form: (answer: Answer) => Answer): Create =>
  () => ({ write: (answer, { operation }) => (answer.status === status && operation ? form(answer) : answer) });

/** Blocks everybody who was refused `after` times. */
export const blocks =
  (after: number, answer: Answer = page(403, 'Request blocked')): Create =>
  () => {
    let refusals = 0;
    return {
      answer: () => (refusals >= after ? answer : undefined),
      write(response) {
        if (response.status >= 400 && response.status !== 401 && response.status !== 422) refusals++;
        return response;
      },
    };
  };

/** Refuses the requests `from` to `to` with 429. */
export const throttles =
  (from: number, to: number, retryAfter: (now: number) => string): Create =>
  () => {
    let count = 0;
    return answers((_, { now }) => {
      count++;
      if (count < from || count > to) return undefined;
      return { ...failure(429, 'Too Many Attempts.'), headers: { 'retry-after': retryAfter(now) } };
    })();
  };

/** Answers an operation with an error of the server once, or after a while, having acted on it or not. */
export const fails =
  (operation: OperationName, { status = 502, acts = true, times = 1, after = 0 } = {}): Create =>
  () => {
    let count = 0;
    return answers((call, service) => {
      if (call.operation !== operation || count++ >= times) return undefined;
      if (acts) service.perform(call);
      service.hold(after);
      return page(status, 'Bad Gateway');
    })();
  };

/** Lists resources that are gone when they are read: the first `count` of a namespace. */
export const listsGone =
  (namespace: string, count: number): Create =>
  () => {
    const gone = new Set<unknown>();
    return {
      resource(resource, { operation }) {
        if (operation === `${namespace}.list` && gone.size < count) gone.add(resource.id);
        return resource;
      },
      write: (answer, { operation, id }) =>
        operation === `${namespace}.get` && gone.has(Number(id)) ? failure(404, 'Resource not found.') : answer,
    };
  };

/** Redirects one path to another. */
export const redirects =
  (from: RegExp, to: string, status = 301): Create =>
  () => ({
    answer: ({ path }) =>
      from.test(path) ? { ...page(status, 'Moved'), headers: { location: path.replace(from, to) } } : undefined,
  });

/** Has other ids in resources, and reads them in paths. */
export const idsAs =
  (shown: (id: number) => unknown, read: (id: string) => number): Create =>
  () => ({
    read: (call) => (call.id === '' ? call : { ...call, id: String(read(call.id)) }),
    resource: (resource) => (typeof resource.id === 'number' ? { ...resource, id: shown(resource.id) } : resource),
    write: (answer, { operation }) =>
      operation === 'webhooks.list' && isObject(answer.body) && Array.isArray(answer.body.data)
        ? withBody(answer, (body) => ({
            ...body,
            data: [body.data].flat().map((row) => ({ ...Object(row), id: shown(5) })),
          }))
        : answer,
  });

/** Moves a timestamp by minutes, as if the clocks of two servers differed. */
export const movesTimes = (minutes: number): Create =>
  shows((resource) =>
    Object.fromEntries(
      Object.entries(resource).map(([name, value]) => [
        name,
        /_at$/.test(name) && typeof value === 'string'
          ? new Date(Date.parse(`${value.replace(' ', 'T')}Z`) + minutes * 60_000)
              .toISOString()
              .slice(0, 19)
              .replace('T', ' ')
          : value,
      ]),
    ),
  );

/** Responds to a create as a function says, from what was created and what was there before. */
export const answersCreate = (
  respond: (created: JsonObject, existing: JsonObject) => Answer,
  { acts = true } = {},
): Create =>
  answers((call, service) => {
    if (call.operation !== 'projects.create') return undefined;
    const [existing = {}] = service.lists.projects ?? [];
    const created = acts ? service.perform(call) : failure(200, '');
    const data = isObject(created.body) ? [created.body.data].flat()[0] : undefined;
    return created.status === 200 ? respond(isObject(data) ? data : {}, existing) : created;
  });

/** Creates an audience for another program, just before a list of audiences is read for the nth time. */
export const createsMeanwhile =
  (nth: number): Create =>
  () => {
    let count = 0;
    return answers((call, service) => {
      if (call.operation !== 'audiences.list' || ++count !== nth) return undefined;
      const [first = {}, ...others] = service.lists.audiences ?? [];
      service.lists.audiences = [{ ...first, id: 999 }, first, ...others];
      return undefined;
    })();
  };
