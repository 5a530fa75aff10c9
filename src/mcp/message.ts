/** What of a JSON-RPC body decides how it is sent. */
export interface Message {
  /** Whether it calls a tool, which may act; what cannot be read may, too. */
  readonly acts: boolean;
  /** The id of the one request that it is. */
  readonly id: string | number | undefined;
  /** The id of the request that it gives up. */
  readonly cancels: string | number | undefined;
}

/** A request without a body. */
const NOTHING: Message = { acts: false, id: undefined, cancels: undefined };

/** Reads the body of a POST. */
export function readMessage(body: string | undefined): Message {
  if (body === undefined) return NOTHING;
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { ...NOTHING, acts: true };
  }
  const all: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const [only] = all.length === 1 ? all : [];
  const method = field(only, 'method');
  return {
    acts: all.some((one) => field(one, 'method') === 'tools/call'),
    id: method === undefined ? undefined : idOf(field(only, 'id')),
    cancels: method === 'notifications/cancelled' ? idOf(field(field(only, 'params'), 'requestId')) : undefined,
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function idOf(value: unknown): Message['id'] {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
