import type { Hono } from 'hono';
import { formatExpiry, formatTimestamp } from '../clock.ts';
import { type Env, requireToken, storageUrlOf } from '../http/access.ts';
import { addRoute } from '../http/contract-adapter.ts';
import { readBody } from '../http/request-body.ts';
import type { FieldErrors } from '../http/responses.ts';
import { invalid, success } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { MAX_UPLOAD_BYTES } from '../service-limits.ts';
import { presignedUrl, readFile, reserveSlot } from '../storage/upload-slots.ts';

/** Path of the create request that claims an upload of points of interest (assumed: the specification shows none). */
const POI_SUBMISSIONS = '/api/v2/poi_submissions/create';

function sizeErrors(size: unknown, max: number): FieldErrors | undefined {
  if (size === undefined) return undefined;
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0)
    return { size: ['The size must be a whole number of bytes, 0 or more.'] };
  return size > max ? { size: [`The size must not be greater than ${max} bytes, but is ${size}.`] } : undefined;
}

/** Adds the routes that reserve uploads and submit points of interest. */
export function uploadRoutes(app: Hono<Env>, service: Service): void {
  const access = requireToken(service, 'write');

  addRoute(app, service, 'uploads.reserve', access, async (context) => {
    const { kind, size } = (await readBody(context)) ?? {};
    const max = typeof kind === 'string' && Object.hasOwn(MAX_UPLOAD_BYTES, kind) ? MAX_UPLOAD_BYTES[kind] : undefined;
    if (typeof kind !== 'string' || max === undefined)
      return invalid({ kind: [`The kind must be one of ${Object.keys(MAX_UPLOAD_BYTES).join(', ')}.`] });
    const errors = sizeErrors(size, max);
    if (errors) return invalid(errors);
    const slot = reserveSlot(service, context.get('account'), kind, typeof size === 'number' ? size : undefined);
    const url = presignedUrl(storageUrlOf(service, context), slot);
    const reservation = { reference: slot.reference, url, expires_at: formatExpiry(slot.expiresAt) };
    return success(reservation, 'Upload reserved successfully.');
  });

  app.post(POI_SUBMISSIONS, access, async (context) => {
    const errors: FieldErrors = {};
    const body = (await readBody(context)) ?? {};
    const account = context.get('account');
    const file = readFile(service, account, body, 'poi_submission', errors);
    if (!file) return invalid(errors);
    file.claim();
    const created_at = formatTimestamp(service.clock.now());
    const submission = { id: service.state.nextId++, rows: file.lines, created_at };
    account.poiSubmissions.set(submission.id, submission);
    return success([submission], 'POI submission created successfully.');
  });
}
