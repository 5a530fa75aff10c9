import type { Hono } from 'hono';
import { operations } from '../../operations.ts';
import { invalid, success } from '../answers.ts';
import { type Errors, isBody } from '../bodies.ts';
import { offsetTime } from '../clock.ts';
import type { Env } from '../gates.ts';
import { UPLOAD_SIZES } from '../limits.ts';
import type { Service } from '../service.ts';
import { findClaim, reserveSlot, slotUrl } from '../uploads.ts';
import { writeGates } from './collection.ts';

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
    const body: unknown = await context.req.json().catch(() => undefined);
    const { kind, size } = isBody(body) ? body : {};
    if (typeof kind !== 'string' || !Object.hasOwn(UPLOAD_SIZES, kind)) {
      return invalid({ kind: [`The kind must be one of ${Object.keys(UPLOAD_SIZES).join(', ')}.`] });
    }
    const errors = sizeErrors(kind, size);
    if (Object.keys(errors).length > 0) return invalid(errors);
    const slot = reserveSlot(service, context.get('account'), kind, typeof size === 'number' ? size : undefined);
    const expires_at = offsetTime(slot.expiresAt);
    return success(
      { reference: slot.reference, url: slotUrl(service, slot), expires_at },
      'Upload reserved successfully.',
    );
  });

  app.post(POI_SUBMISSIONS, ...writeGates(service), async (context) => {
    const body: unknown = await context.req.json().catch(() => undefined);
    const reference = isBody(body) ? body.upload_reference : undefined;
    const slot = findClaim(service, context.get('account'), reference, 'poi_submission');
    if (typeof slot === 'string') return invalid({ upload_reference: [slot] });
    slot.claimed = true;
    const submission = { id: service.state.nextId++, rows: slot.file?.lines ?? 0 };
    return success([submission], 'POI submission created successfully.');
  });
}
