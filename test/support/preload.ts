/** Loads the parts that come with their first use: tests in virtual time wait for timers, not for modules. */
import { files } from '../../src/resources/uploads.ts';
import { checking } from '../../src/schemas/decode.ts';
import { sending } from '../../src/transport/send.ts';
import { WaitRoom } from '../../src/waiting/room.ts';

const room = new WaitRoom({ load: async (part) => part.load() }, { limit: 1, interval: 1 }, undefined);
await Promise.all([sending.load(), checking.load(), files.load(), room.ready(undefined)]);
