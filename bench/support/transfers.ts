import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { get, request } from 'node:http';
import { pipeline } from 'node:stream/promises';

/** Bytes that `node:http` reads from the file at a time: its best size here. */
const READ_SIZE = 262_144;

/** Runs one transfer and reports its time, its CPU time and its peak memory. Imports only what that transfer needs. */
const [, , name = '', url = '', file = '', directory = ''] = process.argv;

async function load() {
  const [{ AudienceClient }, files] = await Promise.all([
    import('audience-activation'),
    import('audience-activation/node'),
  ]);
  return { ...files, client: new AudienceClient({ baseUrl: url, token: 'token', logLevel: 'error' }) };
}

const transfers: Readonly<Record<string, () => Promise<unknown>>> = {
  async 'upload node:http'() {
    const { size } = await stat(file);
    await new Promise<void>((resolve, reject) => {
      const sending = request(`${url}/slot`, { method: 'PUT', headers: { 'content-length': size } }, (response) => {
        response.resume().once('end', resolve);
      });
      pipeline(createReadStream(file, { highWaterMark: READ_SIZE }), sending).catch(reject);
    });
  },
  async 'upload audience-activation'() {
    const { client, openFile } = await load();
    await client.uploads.upload({ kind: 'cohort', data: await openFile(file) }, { onProgress: () => {} });
  },
  'download node:http': () =>
    new Promise((resolve, reject) => {
      get(`${url}/results`, (response) => {
        pipeline(response, createWriteStream(`${directory}/devices`, { flush: true })).then(resolve, reject);
      });
    }),
  async 'download audience-activation'() {
    const { client, downloadTo } = await load();
    await downloadTo(client, 1, directory, { onProgress: () => {} });
  },
};

const began = performance.now();
await transfers[name]?.();
const { user, system } = process.cpuUsage();
process.send?.({
  ms: performance.now() - began,
  cpu: (user + system) / 1000,
  peak: process.resourceUsage().maxRSS / 1024,
});
process.disconnect?.();
