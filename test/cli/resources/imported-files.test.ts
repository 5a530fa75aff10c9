import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startScene } from '../support/run-command.ts';

const LIST = 'email\nann@example.com\n';

describe('a file to import', () => {
  it.each<[string, string | Uint8Array, string]>([
    ['a header alone', 'email\r\n\r\n', 'has only one line, perhaps the header.'],
    ['blank lines', '\n \n', 'has only blank lines.'],
    ['a spreadsheet', Buffer.from('PK\x03\x04 the rest'), 'is a spreadsheet (xlsx) or a zip file.'],
    ['a compressed list', gzipSync(LIST), 'is compressed with gzip: decompress it first.'],
    ['UTF-16', Buffer.from(`\ufeff${LIST}`, 'utf16le'), 'is UTF-16, not UTF-8.'],
    ['UTF-16 without its mark', Buffer.from(LIST, 'utf16le'), 'has zero bytes, as UTF-16 and binary files have.'],
  ])('the command warns of %s before it uploads the file as it is', async (_, content, warning) => {
    const { run, folder, sandbox } = await startScene();
    const file = join(folder, 'list.csv');
    await writeFile(file, content);
    const dry = await run(['cohorts', 'import', file, '--dry-run']);
    expect([dry.code, dry.err]).toEqual([0, expect.stringContaining(`warning: ${file} ${warning}`)]);
    const { code, err } = await run(['cohorts', 'import', file]);
    expect([code, err]).toEqual([0, expect.stringContaining(`warning: ${file} ${warning}`)]);
    expect(err).toContain('It is uploaded as it is');
    expect(sandbox.log.filter(({ method }) => method === 'PUT')).toHaveLength(1);
  });

  it('the command does not warn of a list with rows', async () => {
    const { run, folder } = await startScene();
    const file = join(folder, 'list.csv');
    await writeFile(file, LIST.replaceAll('\n', '\r'));
    expect((await run(['cohorts', 'import', file])).err).not.toContain('warning');
  });

  it('the command refuses an empty file before it sends anything', async () => {
    const { run, folder, sandbox } = await startScene();
    const file = join(folder, 'empty.csv');
    await writeFile(file, '');
    expect(await run(['cohorts', 'import', file])).toMatchObject({ code: 2, err: expect.stringContaining('is empty') });
    expect(sandbox.log).toEqual([]);
  });
});
