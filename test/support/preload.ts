/** Loads the parts that come with their first use: tests in virtual time wait for timers, not for modules. */

import { sending } from '../../src/http/send.ts';
import { files } from '../../src/resources/uploads.ts';
import { checking } from '../../src/schemas/decode.ts';

await Promise.all([sending.load(), checking.load(), files.load()]);
