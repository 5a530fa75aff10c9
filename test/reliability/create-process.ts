// The built package starts four times as fast as its sources.
import { AudienceClient } from 'audience-activation';

/** Creates one audience under an idempotency key that outlives this process. */
const [, , baseUrl = '', token = '', idempotencyKey = ''] = process.argv;
const client = new AudienceClient({ baseUrl, token, backoff: { min: 5, max: 20 } });
const { id } = await client.audiences.create({ name: idempotencyKey }, { idempotencyKey });
process.send?.(id);
process.disconnect?.();
