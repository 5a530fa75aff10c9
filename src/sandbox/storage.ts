import { type Context, Hono } from 'hono';
import { cors } from 'hono/cors';
import { UPLOAD_SIZES } from './limits.ts';
import { readResult, resultLength } from './results.ts';
import type { Service } from './service.ts';
import type { UploadSlot } from './state.ts';

/** A refusal as object storage words it. */
function refusal(status: number, code: string, message: string): Response {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return new Response(body, { status, headers: { 'content-type': 'application/xml' } });
}

const denied = (message = 'Access Denied'): Response => refusal(403, 'AccessDenied', message);

/** Object storage on an origin of its own: takes uploads, hands out results, and knows no tokens. */
export function createStorage(service: Service): Hono {
  const app = new Hono();
  const { state, clock } = service;
  const exposeHeaders = ['Content-Range', 'Content-Encoding', 'ETag', 'Retry-After'];
  app.use(cors({ origin: '*', allowMethods: ['GET', 'PUT'], exposeHeaders }));
  app.use(async (context, next) => {
    clock.settle();
    await next();
    const { method, path } = context.req;
    state.log.push({ at: new Date(clock.now()).toISOString(), method, path, status: context.res.status });
  });
  app.put('/uploads/:reference', (context) => takeFile(context, service));
  app.get('/results/:activation/:file', (context) => giveResult(context, service));
  app.notFound(() => refusal(404, 'NoSuchKey', 'The specified key does not exist.'));
  return app;
}

async function takeFile(context: Context, { state, clock }: Service): Promise<Response> {
  const slot = state.uploads.get(context.req.param('reference') ?? '');
  if (!slot || slot.signature !== context.req.query('signature') || slot.claimed) return denied();
  if (slot.expiresAt <= clock.now()) return denied('Request has expired');
  const length = context.req.header('content-length');
  if (length === undefined) return refusal(411, 'MissingContentLength', 'You must provide the Content-Length header.');
  const problem = sizeProblem(slot, Number(length));
  if (problem) return refusal(400, 'EntityTooLarge', problem);
  const file = await count(context.req.raw.body);
  if (file?.size !== Number(length))
    return refusal(400, 'IncompleteBody', 'The body does not hold Content-Length bytes.');
  slot.file = file;
  return new Response(null, { status: 200, headers: { etag: `"${slot.reference}"` } });
}

function sizeProblem({ kind, size }: UploadSlot, length: number): string | undefined {
  if (length > (UPLOAD_SIZES[kind] ?? 0)) return 'Your proposed upload exceeds the maximum allowed size.';
  return size === undefined || size === length ? undefined : `The slot was reserved for ${size} bytes.`;
}

const NEWLINE = 10;

/** Size and lines of a body; nothing of one that was cut. */
async function count(body: ReadableStream<Uint8Array> | null): Promise<{ size: number; lines: number } | undefined> {
  let size = 0;
  let lines = 0;
  let last = NEWLINE;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length;
      last = chunk.at(-1) ?? last;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
    }
  } catch {
    return undefined;
  }
  return { size, lines: last === NEWLINE ? lines : lines + 1 };
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
