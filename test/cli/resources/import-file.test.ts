import { execFileSync } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startScene } from '../support/run-command.ts';

const LIST = 'email\nann@example.com\nbob@example.com\n';

describe('cohorts import', () => {
  it.each([
    ['a spreadsheet', Buffer.from('PK\u0003\u0004 sheets'), 'is a spreadsheet (xlsx) or a zip file.'],
    ['a compressed file', gzipSync(LIST), 'is compressed with gzip'],
    ['UTF-16', Buffer.from(`\ufeff${LIST}`, 'utf16le'), 'is UTF-16, not UTF-8.'],
    ['another binary file', Buffer.from('PAR1\0\0'), 'is not text'],
    ['a header alone', 'email\n\n', 'has only one line.'],
  ])('warns of %s, and uploads it', async (_, content, warning) => {
    const { run, folder } = await startScene();
    const file = join(folder, 'customers.csv');
    await writeFile(file, content);
    const { code, err } = await run(['cohorts', 'import', file, '--fields', 'name']);
    expect(code, err).toBe(0);
    expect(err).toContain(`warning: ${file} ${warning}`);
  });

  it('takes standard input and pipes through a temporary file, which is removed', async () => {
    const { run, json, folder } = await startScene();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const piped = await run(['cohorts', 'import', '-', '--name', 'Piped'], { input: LIST });
    expect(piped, piped.err).toMatchObject({ code: 0 });
    expect(piped.err).toContain('The command copies the input to a temporary file');
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const importing = run(['cohorts', 'import', pipe, '--name', 'Named pipe']);
    await Promise.all([writeFile(pipe, LIST), importing]);
    expect(await json(['cohorts', 'list'])).toMatchObject([
      { name: 'Named pipe', total_eids: 2 },
      { name: 'Piped', total_eids: 2 },
    ]);
    expect((await readdir(folder)).filter((name) => name.startsWith('aud-import-'))).toEqual([]);
  });

  it('refuses standard input that is empty, or without a name for its cohort, before anything is sent', async () => {
    const { run, sandbox } = await startScene();
    const unnamed = await run(['cohorts', 'import', '-'], { input: LIST });
    expect(unnamed).toMatchObject({ code: 2, err: expect.stringContaining('--name') });
    const { code, err } = await run(['cohorts', 'import', '-', '--name', 'Nobody']);
    expect(code).toBe(2);
    expect(err).toContain('Standard input is empty');
    expect(err).not.toContain('temporary file');
    expect(sandbox.log).toEqual([]);
  });
});

it('a row whose file is no list is warned of, and a folder is refused before anything is sent', async () => {
  const { run, folder, sandbox } = await startScene();
  await writeFile(join(folder, 'book.xlsx'), 'PK\u0003\u0004');
  const rows = join(folder, 'rows.csv');
  await writeFile(rows, 'key,name,file\nnorth,North,book.xlsx\n');
  const warned = await run(['run', rows, '--dry-run']);
  expect(warned, warned.err).toMatchObject({ code: 0 });
  expect(warned.err).toContain('book.xlsx is a spreadsheet (xlsx) or a zip file.');
  await writeFile(rows, 'key,name,file\nnorth,North,.\n');
  const refused = await run(['run', rows]);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain(`north: ${folder} cannot be read: it is not a regular file`);
  expect(sandbox.log).toEqual([]);
});
