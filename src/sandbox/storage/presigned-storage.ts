import { type Context, Hono } from 'hono';
import type { Env } from '../http/access.ts';
import { addMiddleware } from '../http/middleware.ts';
import { measureFile } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import { MAX_UPLOAD_BYTES } from '../service-limits.ts';
import type { FileStats, UploadSlot } from '../state.ts';
import { readResult, resultLength } from './result-files.ts';

function storageError(status: number, code: string, message: string): Response {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  return new Response(body, { status, headers: { 'content-type': 'application/xml' } });
}

const denied = (message = 'Access Denied'): Response => storageError(403, 'AccessDenied', message);

/**
 * Creates the object storage, which has a separate origin. It receives uploads and sends result files, without a token.
 */
export function createStorage(service: Service): Hono<Env> {
  const app = new Hono<Env>();
  const exposed = ['Content-Range', 'Content-Encoding', 'ETag', 'Retry-After'];
  addMiddleware(app, service, exposed, (status, message = 'We encountered an internal error.') =>
    storageError(status, 'InternalError', message),
  );
  app.put('/uploads/:reference', (context) => receiveUpload(context, service));
  app.get('/results/:activation/:file', (context) => sendResult(context, service));
  app.notFound(() => storageError(404, 'NoSuchKey', 'The specified key does not exist.'));
  return app;
}

async function receiveUpload(context: Context<Env>, { state, clock }: Service): Promise<Response> {
  const { req, env } = context;
  const slot = state.uploads.get(req.param('reference') ?? '');
  if (!slot || slot.signature !== req.query('signature') || slot.claimed) return denied();
  if (slot.expiresAt <= clock.now()) return denied('Request has expired');
  const declared = req.header('content-length');
  // Without HTTP, a request may lack the header although its length is known.
  if (declared === undefined && env.overHttp)
    return storageError(411, 'MissingContentLength', 'You must provide the Content-Length header.');
  const declaredProblem = declared === undefined ? undefined : sizeProblem(slot, Number(declared));
  if (declaredProblem) return storageError(400, 'EntityTooLarge', declaredProblem);
  const file = await measure(req.raw).catch(() => undefined);
  if (file) context.set('file', file);
  if (!file || file.size !== Number(declared ?? file.size))
    return storageError(400, 'IncompleteBody', 'The body does not have the length of Content-Length.');
  const problem = sizeProblem(slot, file.size);
  if (problem) return storageError(400, 'EntityTooLarge', problem);
  slot.file = file;
  return new Response(null, { status: 200, headers: { etag: `"${slot.reference}"` } });
}

/** Firefox has no `Request.body`. */
const measure = async (request: Request): Promise<FileStats> =>
  measureFile(request.body ?? (await request.blob()).stream());

function sizeProblem({ kind, size }: UploadSlot, length: number): string | undefined {
  if (length > (MAX_UPLOAD_BYTES[kind] ?? 0)) return 'Your proposed upload exceeds the maximum allowed size.';
  return size === undefined || size === length ? undefined : `The slot was reserved for ${size} bytes, not ${length}.`;
}

function sendResult({ req }: Context<Env>, { state }: Service): Response {
  const activation = Number(req.param('activation'));
  const file = state.results.get(activation);
  if (!file || file.signature !== req.query('signature')) return denied();
  const name = req.param('file') ?? '';
  if (!file.streams.some((stream) => name === `${stream}.csv`))
    return storageError(404, 'NoSuchKey', 'The specified key does not exist.');
  const length = resultLength(file);
  const start = Number(/^bytes=(\d+)-$/.exec(req.header('range') ?? '')?.[1] ?? 0);
  if (start >= length) return storageError(416, 'InvalidRange', 'The requested range is not satisfiable.');
  const headers = {
    'content-type': 'text/csv',
    'content-length': String(length - start),
    'last-modified': new Date(file.deliveredAt).toUTCString(),
    etag: `"result-${activation}-${name}"`,
    ...(start > 0 && { 'content-range': `bytes ${start}-${length - 1}/${length}` }),
  };
  return new Response(readResult(file, start), { status: start > 0 ? 206 : 200, headers });
}
