import { startJobService } from '../support/job-service.ts';
import { startVirtualTime } from '../support/virtual-time.ts';

/** Ends waits in virtual time, as many as its argument says, and reports the heap in use after each tenth of them. */
const TENTHS = 10;
const WAITS = 100;
const ROUNDS = Number(process.argv[2]) / TENTHS / WAITS;

const time = startVirtualTime();
const service = startJobService({ latency: 0 });
const heap: number[] = [];
let ended = 0;
for (let tenth = 0; tenth < TENTHS; tenth++) {
  for (let round = 0; round < ROUNDS; round++) {
    const ids = service.add(WAITS);
    const waiting = Promise.all(ids.map((id) => service.client.audiences.wait(id)));
    for (const id of ids) service.set(id, 104);
    ended += (await time.until(waiting)).length;
    for (const id of ids) service.remove(id);
    service.reads.length = 0;
  }
  globalThis.gc?.();
  heap.push(process.memoryUsage().heapUsed);
}
time.end();
process.send?.({ ended, size: service.client.waits.size, heap });
