/** Loads the parts that come with their first use: tests in virtual time wait for timers, not for modules. */

import { sending } from '../../src/http/send.ts';
import { WaitRoom } from '../../src/polling/room.ts';
import { checking } from '../../src/schemas/decode.ts';

const room = new WaitRoom({ load: async (part) => part.load() }, { limit: 1, interval: 1 }, undefined);
await Promise.all([sending.load(), checking.load(), room.ready(undefined)]);
