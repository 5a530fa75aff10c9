import { describe, expect, it } from 'vitest';
import { clientOf } from '../support/server.ts';
import { cpuTime } from './support/cpu-time.ts';
import { hostileBodies } from './support/hostile.ts';

/**
 * Milliseconds of processor time that the handling of one response may take beside the parsing of its JSON: 50 on an idle
 * machine, and up to four times as long where other processes keep its cores and caches busy. `LIMIT_MS=50` asks for the former.
 */
const LIMIT_MS = Number(process.env.LIMIT_MS ?? 200);

/** The least processor time of some runs: others may keep the processor, and collect garbage, in between. */
async function leastMs(work: () => unknown, enough = 0): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5 && least > enough; run++) {
    least = Math.min(least, await cpuTime(work));
  }
  return least;
}

function parse(body: string): void {
  try {
    JSON.parse(body);
  } catch {
    // A broken one is parsed as far as it goes.
  }
}

describe('a response of 1 MB', () => {
  it.each([200, 422, 502])(
    'is handled in a moment, whatever it holds, with status %i',
    async (status) => {
      const slow: string[] = [];
      for (const [at, body] of hostileBodies(1_000_000).entries()) {
        const fetch = async (): Promise<Response> => new Response(body, { status });
        const client = clientOf({ url: 'http://localhost' }, { fetch, maxRetries: 0, rateLimits: false });
        const ms = await leastMs(() => client.audiences.create({ name: 'x' }).catch(() => {}), LIMIT_MS);
        if (ms <= LIMIT_MS || ms <= LIMIT_MS + (await leastMs(() => parse(body)))) continue;
        slow.push(`${at}: ${Math.round(ms)} ms for ${body.slice(0, 60)}`);
      }
      expect(slow).toEqual([]);
    },
    600_000,
  );

  it('is handled in a moment as an event stream, whatever it holds', async () => {
    const slow: string[] = [];
    const blocks = ['a\n\n', '\n', ':\n', 'data\n\n', 'data:{\n\n', 'event: x\n', 'data: x\r\r'];
    const streams = blocks.map((block) => block.repeat(1_000_000 / block.length));
    for (const body of [...hostileBodies(1_000_000), ...streams]) {
      const fetch = async (): Promise<Response> =>
        new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      const client = clientOf(
        { url: 'http://localhost' },
        { mcpToken: 'token', fetch, maxRetries: 0, rateLimits: false },
      );
      const message = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
      const ms = await leastMs(() => client.mcp.send(message).catch(() => {}), LIMIT_MS);
      if (ms > LIMIT_MS) slow.push(`${Math.round(ms)} ms for ${body.slice(0, 60)}`);
    }
    expect(slow).toEqual([]);
  }, 600_000);
});
