import { createServer } from 'node:http';

/**
 * Serves audiences of a fixed number, each of which ends 2 to 7 s after the start, by id and as pages of 100, newest
 * first; more than 120 reads in 60 s are refused. Shares no code with the sandbox. Sends its address and, when asked,
 * when each audience ended and what it received.
 */
const [, , count = '0'] = process.argv;
const JOBS = Number(count);
const LIMIT = { reads: 120, ms: 60_000 };

const METRICS = { unique_eids: 1, unique_scids: null, eid_scid_ratio: null, is_affinity: false };

const startedAt = Date.now();
const endsAt = Array.from({ length: JOBS }, () => startedAt + 2_000 + 5_000 * Math.random());
const readsAt: number[] = [];
let refused = 0;

const rowOf = (id: number) => ({
  id,
  name: `Audience ${id}`,
  status: Date.now() < (endsAt[id - 1] ?? 0) ? { id: 102, name: 'In Progress' } : { id: 104, name: 'Completed' },
  is_cohort: false,
  is_lookalike: false,
  results_count: 1,
  is_activation_allowed: 1,
  eligibility: { allowed: true, reasons: [], notices: [], metrics: METRICS },
  source_audience: null,
  created_by: { name: 'Bench', email: 'bench@example.com' },
  project: null,
  operator: null,
  dataset: [],
  created_at: '2026-11-22 10:00:00',
  updated_at: '2026-11-22 10:00:00',
});

const server = createServer((request, response) => {
  const send = (code: number, data: unknown, headers = {}): void => {
    const status = code < 400 ? 'success' : 'error';
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ status, code, message: '', data }));
  };
  const now = Date.now();
  if (readsAt.filter((at) => now - at < LIMIT.ms).length >= LIMIT.reads) {
    refused++;
    return send(429, null, { 'retry-after': '1' });
  }
  readsAt.push(now);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  const id = Number(/\/(\d+)$/.exec(pathname)?.[1] ?? 0);
  if (id > 0) return send(200, rowOf(id));
  const first = JOBS - (Number(searchParams.get('page') ?? 1) - 1) * 100;
  const ids = Array.from({ length: Math.max(0, Math.min(100, first)) }, (_, at) => first - at);
  send(200, ids.map(rowOf));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.(`http://127.0.0.1:${address.port}`);
});
process.on('message', () => process.send?.({ endsAt, readsAt, refused }));
process.once('disconnect', () => process.exit());
