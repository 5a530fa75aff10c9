import type { Hono } from 'hono';
import { operations } from '../../spec/operations.ts';
import { offsetTime } from '../clock.ts';
import type { Env } from '../http/access.ts';
import { readBody } from '../http/request-body.ts';
import { invalid, success } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { UPLOAD_SIZES } from '../service-limits.ts';
import { storageOf } from '../storage/presigned-storage.ts';
import { readFile, reserveSlot, slotUrl } from '../storage/upload-slots.ts';
import type { Errors } from './body-fields.ts';
import { writeGates } from './resource-routes.ts';

/** Where uploads of points of interest are claimed. The specification shows no path; this one is made up. */
const POI_SUBMISSIONS = '/api/v2/poi_submissions/create';

function sizeErrors(kind: string, size: unknown): Errors {
  if (size === undefined) return {};
  if (typeof size !== 'number' || !Number.isInteger(size) || size < 0)
    return { size: ['The size must be a number of bytes.'] };
  const largest = UPLOAD_SIZES[kind] ?? 0;
  return size > largest ? { size: [`The size may not be greater than ${largest} bytes.`] } : {};
}

/** Reservations, and the claim of an upload that is no cohort. */
export function uploadRoutes(app: Hono<Env>, service: Service): void {
  app.post(operations['uploads.reserve'].path, ...writeGates(service), async (context) => {
    const { kind, size } = (await readBody(context)) ?? {};
    if (typeof kind !== 'string' || !Object.hasOwn(UPLOAD_SIZES, kind)) {
      return invalid({ kind: [`The kind must be one of ${Object.keys(UPLOAD_SIZES).join(', ')}.`] });
    }
    const errors = sizeErrors(kind, size);
    if (Object.keys(errors).length > 0) return invalid(errors);
    const slot = reserveSlot(service, context.get('account'), kind, typeof size === 'number' ? size : undefined);
    const expires_at = offsetTime(slot.expiresAt);
    return success(
      { reference: slot.reference, url: slotUrl(storageOf(service, context), slot), expires_at },
      'Upload reserved successfully.',
    );
  });

  app.post(POI_SUBMISSIONS, ...writeGates(service), async (context) => {
    const errors: Errors = {};
    const body = (await readBody(context)) ?? {};
    const file = readFile(service, context.get('account'), body, 'poi_submission', errors);
    if (!file) return invalid(errors);
    file.claim();
    return success([{ id: service.state.nextId++, rows: file.lines }], 'POI submission created successfully.');
  });
}
