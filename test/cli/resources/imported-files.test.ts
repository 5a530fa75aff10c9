import { execFileSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

/** Starts a scene with a pipe and with a folder for temporary files. */
async function startPipe() {
  const scene = await startScene();
  const [pipe, temporary] = [join(scene.folder, 'list.csv'), join(scene.folder, 'tmp')];
  execFileSync('mkfifo', [pipe]);
  await mkdir(temporary);
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { ...scene, pipe, temporaryFiles: () => readdir(temporary) };
}

describe('a list that can be read only once', () => {
  it.each(['-', '/dev/stdin'])(
    'the command imports standard input, named %s, through a temporary file',
    async (path) => {
      const { run, temporaryFiles } = await startPipe();
      const args = ['cohorts', 'import', path, '--name', 'Piped', '--wait', '--fields', 'name,total_eids'];
      const { code, out, err } = await run(args, { input: LIST });
      expect([code, out]).toEqual([0, 'Piped\t1\n']);
      expect(err).toContain('Reading standard input to a temporary file.\nPiped: ');
      expect(await temporaryFiles()).toEqual([]);
    },
  );

  it('the command imports a named pipe, whose writer comes later', async () => {
    const { start, pipe, temporaryFiles } = await startPipe();
    const running = start(['cohorts', 'import', pipe, '--wait', '--fields', 'name,total_eids']);
    await running.shows('err', `Reading ${pipe} to a temporary file.`);
    await writeFile(pipe, LIST);
    expect(await running.ended).toMatchObject({ code: 0, out: 'list.csv\t1\n' });
    expect(await temporaryFiles()).toEqual([]);
  });

  it('the command imports a file without a size, such as one of /proc', async () => {
    const { run, temporaryFiles } = await startPipe();
    expect(await run(['cohorts', 'import', '/proc/self/status', '--wait'])).toMatchObject({ code: 0 });
    expect(await temporaryFiles()).toEqual([]);
  });

  it('Ctrl-C ends a command that waits for the writer of a pipe, and removes its temporary file', async () => {
    const { start, pipe, temporaryFiles, sandbox } = await startPipe();
    const running = start(['cohorts', 'import', pipe]);
    await running.shows('err', 'to a temporary file.');
    running.interrupt();
    expect(await running.ended).toMatchObject({ code: 130, err: expect.stringContaining('error: Interrupted.') });
    expect(await temporaryFiles()).toEqual([]);
    expect(sandbox.log).toEqual([]);
  });

  it('a refused upload removes the temporary file', async () => {
    const { run, temporaryFiles, sandbox } = await startPipe();
    sandbox.faults.add({ on: 'uploads.reserve', status: 403 });
    expect((await run(['cohorts', 'import', '-', '--name', 'Piped'], { input: LIST })).code).toBe(8);
    expect(await temporaryFiles()).toEqual([]);
  });

  it.each([
    ['empty standard input', ['--name', 'Piped'], '', 'Standard input is empty'],
    ['standard input without a name', [], LIST, 'A list from a pipe has no name: pass --name <text>.'],
  ])('the command refuses %s before it sends anything', async (_, flags, input, message) => {
    const { run, sandbox, temporaryFiles } = await startPipe();
    const { code, err } = await run(['cohorts', 'import', '-', ...flags], { input });
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(sandbox.log).toEqual([]);
    expect(await temporaryFiles()).toEqual([]);
  });

  it('the command names the folder in which it cannot create a temporary file', async () => {
    const { run, folder } = await startPipe();
    vi.stubEnv('TMPDIR', join(folder, 'none'));
    const { code, err } = await run(['cohorts', 'import', '-', '--name', 'Piped'], { input: LIST });
    expect([code, err]).toEqual([1, expect.stringContaining(`${join(folder, 'none')} could not be written.`)]);
  });
});
