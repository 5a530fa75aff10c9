import type { OperationName } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { isObject } from '../../../../src/util/json.ts';
import { type Answer, type Call, failure, json, mapStrings, page, type Trait, withBody } from './exchange.ts';

/** Kinds of resources, as keys of `statuses` in a contract. */
type StatusKind = 'audience' | 'activation' | 'cohort';

const isList = ({ operation }: Call): boolean => operation?.endsWith('.list') ?? false;
const isOf = ({ operation }: Call, namespace: string): boolean => operation?.startsWith(`${namespace}.`) ?? false;

/** Blocks everybody who was refused `after` times: every further request is a 403. */
export const blocks =
  (after: number, answer: Answer = page(403, 'Request blocked')) =>
  (): Trait => {
    let refusals = 0;
    return {
      answer: () => (refusals >= after ? answer : undefined),
      write(response) {
        if (response.status >= 400 && response.status !== 401 && response.status !== 422) refusals++;
        return response;
      },
    };
  };

/** Refuses the requests `from` to `to` with 429. `retryAfter` is the header, computed from the time. */
export const throttles = (from: number, to: number, retryAfter: string | ((now: number) => string)) => (): Trait => {
  let count = 0;
  return {
    answer(_, { timeline }) {
      count++;
      if (count < from || count > to) return undefined;
      const wait = typeof retryAfter === 'string' ? retryAfter : retryAfter(timeline.clock.now());
      return { ...failure(429, 'Too Many Attempts.'), headers: { 'retry-after': wait } };
    },
  };
};

/** Answers one operation only after a while; the service has acted long before. */
export const answersLate =
  (operation: OperationName, ms: number, times = 1) =>
  (): Trait => {
    let count = 0;
    return {
      async answer(call, { timeline, perform }) {
        if (call.operation !== operation || count++ >= times) return undefined;
        const answer = await perform(call);
        await timeline.hold(ms, call.signal);
        return answer;
      },
    };
  };

/** Acts on an operation and never answers; after ten minutes the connection is lost. */
export const neverAnswers =
  (operation: OperationName, times = 1) =>
  (): Trait => {
    let count = 0;
    return {
      async answer(call, { timeline, perform }) {
        if (call.operation !== operation || count++ >= times) return undefined;
        await perform(call);
        await timeline.hold(600_000, call.signal);
        throw new TypeError('fetch failed');
      },
    };
  };

/** Answers an operation with an error of the server, after having acted on it or without. */
export const fails =
  (operation: OperationName, { status = 502, acts = true, times = 1 } = {}) =>
  (): Trait => {
    let count = 0;
    return {
      async answer(call, { perform }) {
        if (call.operation !== operation || count++ >= times) return undefined;
        if (acts) await perform(call);
        return page(status, 'Bad Gateway');
      },
    };
  };

/** Does not know idempotency keys. */
export const ignoresKeys = (): Trait => ({
  read(call) {
    const headers = new Headers(call.headers);
    headers.delete('idempotency-key');
    return { ...call, headers };
  },
});

/** Replays the stored response for the same key, whatever the body is. */
export const ignoresBodiesOfKeys = (): Trait => {
  const bodies = new Map<string, unknown>();
  return {
    read(call) {
      const key = call.headers.get('idempotency-key');
      if (key === null) return call;
      if (!bodies.has(key)) bodies.set(key, call.body);
      return { ...call, body: bodies.get(key) };
    },
  };
};

/** Has other status ids: `ids` maps those of the specification to those of the service. */
export const statusIds =
  (kind: StatusKind, ids: Readonly<Record<number, { readonly id: number; readonly name: string }>>) => (): Trait => ({
    resource(resource, call) {
      const isKind = isOf(call, `${kind}s`) || (kind === 'audience' && isOf(call, 'lookalikes'));
      if (!isKind || !isObject(resource.status)) return resource;
      const other = ids[Number(resource.status.id)];
      return other ? { ...resource, status: other } : resource;
    },
  });

/** Lists resources that are gone when they are read: the first `count` that are listed. */
export const listsGone = (namespace: string, count: number) => (): Trait => {
  const gone = new Set<unknown>();
  return {
    resource(resource, call) {
      if (isList(call) && isOf(call, namespace) && gone.size < count) gone.add(resource.id);
      return resource;
    },
    write: (answer, call) =>
      call.operation === `${namespace}.get` && gone.has(Number(call.params.id))
        ? failure(404, 'Resource not found.')
        : answer,
  };
};

/** Answers one operation as if it were another. */
export const confuses = (operation: OperationName, actual: OperationName) => (): Trait => ({
  read: (call) => (call.operation === operation ? { ...call, operation: actual } : call),
});

/** Refuses the get of a lookalike as an audience, and of an audience as a lookalike. */
export const refusesOtherKind = (): Trait => ({
  write(answer, call) {
    const data = isObject(answer.body) ? answer.body.data : undefined;
    const [resource]: unknown[] = Array.isArray(data) ? data : [];
    if (!isObject(resource)) return answer;
    const wrong = { 'audiences.get': true, 'lookalikes.get': false }[String(call.operation)];
    return wrong !== undefined && resource.is_lookalike === wrong ? failure(404, 'Resource not found.') : answer;
  },
});

/** Wants `yearmonth` as `202611`. */
export const compactMonths = (): Trait => ({
  read(call) {
    const month = call.query.get('yearmonth');
    if (call.operation !== 'usage.get' || month === null) return call;
    const [, year, number] = /^(\d{4})(\d{2})$/.exec(month) ?? [];
    const query = new URLSearchParams(call.query);
    query.set('yearmonth', year === undefined ? 'invalid' : `${year}-${number}`);
    return { ...call, query };
  },
});

/** Changes `data` of the success of one operation. */
export const changesData = (operation: OperationName, change: (data: JsonObject) => unknown) => (): Trait => ({
  write: (answer, call) =>
    call.operation === operation && answer.status === 200
      ? withBody(answer, (body) => (isObject(body.data) ? { ...body, data: change(body.data) } : body))
      : answer,
});

/** Fields of a body that a service does not know, and does not show. */
const UNKNOWN = 'unknown ';

/** Has other names for fields of a body: `names` maps those of the service to those of the specification. */
export const namesFields = (operation: OperationName, names: Readonly<Record<string, string>>) => (): Trait => {
  const own = Object.fromEntries(Object.entries(names).map(([name, assumed]) => [assumed, name]));
  const nameOf = (name: string): string => names[name] ?? (name in own ? `${UNKNOWN}${name}` : name);
  const rename = (object: unknown, to: (name: string) => string): JsonObject =>
    Object.fromEntries(Object.entries(Object(object)).map(([name, value]) => [to(name), value]));
  return {
    read: (call) => (call.operation === operation ? { ...call, body: rename(call.body, nameOf) } : call),
    resource: (resource) => Object.fromEntries(Object.entries(resource).filter(([name]) => !name.startsWith(UNKNOWN))),
    write: (answer, call) =>
      call.operation === operation && answer.status === 422
        ? withBody(answer, (body) => ({ ...body, errors: rename(body.errors, (name) => own[name] ?? name) }))
        : answer,
  };
};

/** Answers errors of a status in another form. */
export const errorBody = (status: number, form: (message: string) => Answer) => (): Trait => ({
  write: (answer, { operation }) =>
    answer.status === status && operation !== undefined && operation !== 'mcp.send' ? form('Refused.') : answer,
});

/** Changes every string of the data, such as the form of timestamps. */
export const mapsText = (change: (text: string) => unknown) => (): Trait => ({
  write: (answer) => withBody(answer, (body) => mapStrings(body, change)),
});

/** Sends a header with each response, or a fixed one. */
export const sendsHeader = (name: string, value: string) => (): Trait => ({
  write: (answer) => ({ ...answer, headers: { ...answer.headers, [name]: value } }),
});

/** Redirects one path to another. */
export const redirects =
  (from: RegExp, to: string, status = 301) =>
  (): Trait => ({
    answer: ({ path }) =>
      from.test(path) ? { ...page(status, 'Moved'), headers: { location: path.replace(from, to) } } : undefined,
  });

/** Answers whatever a function answers. */
export const answers = (answer: (call: Call) => Answer | undefined) => (): Trait => ({ answer });

/** Responds without the envelope. */
export const bareBodies = (): Trait => ({
  write: (answer) => withBody(answer, (body) => ('data' in body && answer.status === 200 ? body.data : body)),
});

/** Deletes by the id in the body. */
export const idInBody = (operation: OperationName, field: string) => (): Trait => ({
  read: (call) =>
    call.operation === operation
      ? { ...call, params: { id: String(isObject(call.body) ? call.body[field] : 0) } }
      : call,
});

/** Wants a further header with the file. */
export const uploadNeeds = (header: string) => (): Trait => ({
  storage: (request) =>
    request.method === 'PUT' && !request.headers.has(header)
      ? new Response('<Error><Code>MissingSecurityHeader</Code></Error>', { status: 403 })
      : undefined,
});

/** Answers a problem as RFC 9457 does. */
export const problem = (status: number): Answer => ({
  ...json(status, { type: 'about:blank', title: 'CANARY problem', status }),
  headers: { 'content-type': 'application/problem+json' },
});

/** Answers every request only after a while. */
export const takes = (ms: number) => (): Trait => ({
  async answer(call, { timeline, perform }) {
    const answer = await perform(call);
    await timeline.hold(ms, call.signal);
    return answer;
  },
});

/** Allows fewer requests a minute than documented. */
export const allowsPerMinute = (limit: number) => (): Trait => {
  let times: number[] = [];
  return {
    answer(_, { timeline }) {
      const now = timeline.clock.now();
      times = times.filter((time) => time > now - 60_000);
      const [oldest = now] = times;
      if (times.length < limit) {
        times.push(now);
        return undefined;
      }
      const wait = Math.ceil((oldest + 60_000 - now) / 1000);
      return { ...failure(429, 'Too Many Attempts.'), headers: { 'retry-after': String(wait) } };
    },
  };
};

/** Keeps showing what was deleted, with the time when it was. */
export const deletesSoftly = (namespace: string) => (): Trait => {
  const shown = new Map<string, unknown>();
  return {
    write(answer, { operation, params }) {
      const id = params.id ?? '';
      if (operation === `${namespace}.get` && answer.status === 200) shown.set(id, answer.body);
      if (operation !== `${namespace}.get` || answer.status !== 404 || !shown.has(id)) return answer;
      return withBody(json(200, shown.get(id)), ({ data, ...body }) => ({
        ...body,
        data: Array.isArray(data) ? data.map((one) => ({ ...one, deleted_at: '2026-11-01 00:00:00' })) : data,
      }));
    },
  };
};

/** Creates with 201, and returns the resource itself. */
export const createsWith201 = (): Trait => ({
  write: (answer, { operation }) =>
    answer.status === 200 && operation?.endsWith('.create')
      ? withBody({ ...answer, status: 201 }, (body) => ({
          ...body,
          code: 201,
          data: Array.isArray(body.data) && body.data.length === 1 ? body.data[0] : body.data,
        }))
      : answer,
});

/** Deletes without a body in the response. */
export const deletesWith204 = (): Trait => ({
  write: (answer, { operation }) =>
    answer.status === 200 && operation?.endsWith('.delete') ? { status: 204, headers: {}, body: '' } : answer,
});

/** Refuses a key that was used before, whatever the body is. */
export const refusesUsedKeys = (): Trait => {
  const used = new Set<string>();
  return {
    answer({ headers }) {
      const key = headers.get('idempotency-key');
      if (key === null) return undefined;
      if (used.has(key)) return failure(409, 'The key was used.');
      used.add(key);
      return undefined;
    },
  };
};

/** Creates without checking the body, of which only the name counts. */
export const checksNothing = (operation: OperationName) => (): Trait => ({
  read: (call) =>
    call.operation === operation && isObject(call.body) ? { ...call, body: { name: String(call.body.name) } } : call,
});
