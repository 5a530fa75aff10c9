import { type Context, Hono } from 'hono';
import type { Env } from '../http/access.ts';
import { addMiddleware } from '../http/middleware.ts';
import type { Service } from '../service.ts';
import { UPLOAD_SIZES } from '../service-limits.ts';
import type { UploadSlot } from '../state.ts';
import { measure } from './file-measure.ts';
import { readResult, resultLength } from './result-files.ts';

/** A refusal as object storage words it. */
function refusal(status: number, code: string, message: string): Response {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return new Response(body, { status, headers: { 'content-type': 'application/xml' } });
}

const denied = (message = 'Access Denied'): Response => refusal(403, 'AccessDenied', message);

/** Origin of the storage that goes with the way a request came. */
export const storageOf = ({ state }: Service, context: Context<Env>): string =>
  context.env.storageUrl ?? state.storageUrl;

/** Object storage on an origin of its own: takes uploads, hands out results, and knows no tokens. */
export function createStorage(service: Service): Hono<Env> {
  const app = new Hono<Env>();
  const exposed = ['Content-Range', 'Content-Encoding', 'ETag', 'Retry-After'];
  addMiddleware(app, service, exposed, (status, message = 'We encountered an internal error.') =>
    refusal(status, 'InternalError', message),
  );
  app.put('/uploads/:reference', (context) => takeFile(context, service));
  app.get('/results/:activation/:file', (context) => giveResult(context, service));
  app.notFound(() => refusal(404, 'NoSuchKey', 'The specified key does not exist.'));
  return app;
}

async function takeFile(context: Context<Env>, { state, clock }: Service): Promise<Response> {
  const slot = state.uploads.get(context.req.param('reference') ?? '');
  if (!slot || slot.signature !== context.req.query('signature') || slot.claimed) return denied();
  if (slot.expiresAt <= clock.now()) return denied('Request has expired');
  const told = context.req.header('content-length');
  // A request that never was on a wire may have no such header, though its length is known.
  if (told === undefined && context.env.overHttp)
    return refusal(411, 'MissingContentLength', 'You must provide the Content-Length header.');
  const early = told === undefined ? undefined : sizeProblem(slot, Number(told));
  if (early) return refusal(400, 'EntityTooLarge', early);
  const file = await measure(context.req.raw.body).catch(() => undefined);
  if (!file || file.size !== Number(told ?? file.size))
    return refusal(400, 'IncompleteBody', 'The body does not hold Content-Length bytes.');
  const late = sizeProblem(slot, file.size);
  if (late) return refusal(400, 'EntityTooLarge', late);
  slot.file = file;
  return new Response(null, { status: 200, headers: { etag: `"${slot.reference}"` } });
}

function sizeProblem({ kind, size }: UploadSlot, length: number): string | undefined {
  if (length > (UPLOAD_SIZES[kind] ?? 0)) return 'Your proposed upload exceeds the maximum allowed size.';
  return size === undefined || size === length ? undefined : `The slot was reserved for ${size} bytes.`;
}

function giveResult(context: Context, { state }: Service): Response {
  const activation = Number(context.req.param('activation'));
  const file = state.results.get(activation);
  if (!file || file.signature !== context.req.query('signature')) return denied();
  const length = resultLength(file);
  const from = Number(/^bytes=(\d+)-$/.exec(context.req.header('range') ?? '')?.[1] ?? 0);
  if (from >= length) return refusal(416, 'InvalidRange', 'The requested range is not satisfiable.');
  const headers = {
    'content-type': 'text/csv',
    'content-length': String(length - from),
    'last-modified': new Date(file.deliveredAt).toUTCString(),
    etag: `"result-${activation}"`,
    ...(from > 0 && { 'content-range': `bytes ${from}-${length - 1}/${length}` }),
  };
  return new Response(readResult(file, from), { status: from > 0 ? 206 : 200, headers });
}
