import type { Audience, AudienceClient } from 'audience-activation';

/** Waits for one job. */
export type Strategy = (client: AudienceClient, id: number) => Promise<Audience>;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const hasEnded = ({ status }: Audience): boolean => status.id === 104;

/** Returns a strategy that polls each job separately, as other SDKs and scripts do, under the client's rate limits. */
function polling(next: (wait: number) => number, first: number): Strategy {
  return async (client, id) => {
    for (let wait = first; ; wait = next(wait)) {
      const audience = await client.audiences.get(id);
      if (hasEnded(audience)) return audience;
      await sleep(wait);
    }
  };
}

/** Strategies to compare. */
export const strategies = {
  wait: (client, id) => client.audiences.wait(id, { timeout: Number.POSITIVE_INFINITY }),
  'poller, 2 s': polling(() => 2_000, 2_000),
  'poller, 5 s': polling(() => 5_000, 5_000),
  'poller, 2 to 120 s': polling((wait) => Math.min(120_000, wait * 2), 2_000),
} as const satisfies Readonly<Record<string, Strategy>>;
