/** GET lists audiences; POST creates one with the caller's `Idempotency-Key`. Authenticate callers before use. */
import * as z from 'zod/mini';
import { client } from '../../../lib/audience.ts';
import { failure, refusal } from '../../../lib/failure.ts';

const count = (max: number) => z.coerce.number().check(z.int(), z.minimum(1), z.maximum(max));
const query = z.object({ page: z._default(count(10_000), 1), per_page: z._default(count(100), 25) });

const date = z.iso.date();
const create = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  dataset: z.optional(z.array(z.strictObject({ analysis_type: z.string(), start_date: date, end_date: date }))),
});

export async function GET(request: Request): Promise<Response> {
  const input = query.safeParse(Object.fromEntries(new URL(request.url).searchParams));
  if (!input.success) return refusal(400, z.prettifyError(input.error));
  try {
    const { items, page, perPage } = await client.audiences.list(input.data, { signal: request.signal });
    const rows = items.map(({ id, name, status, results_count }) => ({ id, name, status, results_count }));
    return Response.json({ items: rows, page, perPage });
  } catch (error) {
    return failure(error);
  }
}

export async function POST(request: Request): Promise<Response> {
  const idempotencyKey = request.headers.get('idempotency-key');
  if (!idempotencyKey) return refusal(400, 'Idempotency-Key is missing: without it, a retry could build twice.');
  const input = create.safeParse(await request.json().catch(() => undefined));
  if (!input.success) return refusal(400, z.prettifyError(input.error));
  try {
    // Do not pass the request's signal: if the caller disconnects, its retry with the same key returns this audience.
    const { id, name, status } = await client.audiences.create(input.data, { idempotencyKey, deadline: 25_000 });
    return Response.json({ id, name, status }, { status: 201 });
  } catch (error) {
    return failure(error);
  }
}
