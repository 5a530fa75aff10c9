import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { serve } from '../../support/file-server.ts';
import { startScene, TERMINAL } from '../support/run-command.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that terminals interpret
const ESCAPES = /\u001b\[[\d;?]*[A-Za-z]/g;
const plain = (text: string): string => text.replace(ESCAPES, '').replaceAll('\r', '');

describe('in a terminal of 80 columns', () => {
  it('lists are aligned tables with a header, without colours under NO_COLOR, CLICOLOR=0 and TERM=dumb', async () => {
    const { client, run } = await startScene({}, TERMINAL);
    for (const name of ['Short', '名前の長いオーディエンス']) await client.audiences.create({ name });
    const args = ['audiences', 'list', '--fields', 'name,status.name'];
    const { out } = await run(args);
    expect(plain(out).trimEnd().split('\n')).toEqual([
      'NAME                      STATUS',
      '名前の長いオーディエンス  Completed',
      'Short                     Completed',
    ]);
    expect(out).toMatch(ESCAPES);
    for (const env of [{ NO_COLOR: '1' }, { CLICOLOR: '0' }, { TERM: 'dumb' }])
      expect((await run(args, { env })).out).not.toMatch(ESCAPES);
  });

  it('lists are cut at the width of the terminal, between the characters that people see', async () => {
    const { client, run } = await startScene({}, TERMINAL);
    const family = '👨‍👩‍👧';
    for (const name of ['Short', `${family}${'観'.repeat(60)}`, `${family.repeat(60)}`])
      await client.audiences.create({ name });
    const { out } = await run(['audiences', 'list', '--fields', 'id,name,status.name']);
    const lines = plain(out).trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines.map((line) => stringWidth(line) <= 80)).toEqual([true, true, true, true]);
    expect(lines[1]).toMatch(new RegExp(`^\\d+ +(?:${family})+…  Completed$`));
    expect(lines[2]).toMatch(new RegExp(`^\\d+ +${family}観+… +Completed$`));
    expect(lines[3]).toMatch(/^\d+ +Short +Completed$/);
  });

  it('explain prints its sentences in full', async () => {
    const { client, run } = await startScene({ jobs: { outcome: 107 } }, TERMINAL);
    const { id } = await client.audiences.create({ name: 'x' });
    const { out } = await run(['explain', String(id)]);
    expect(plain(out)).toContain('Only an audience with status 104 can be activated (assumed)');
    expect(out).not.toContain('…');
  });

  it('check shows its steps, and says first what the report means', async () => {
    const { run } = await startScene({}, TERMINAL);
    const { code, out, err } = await run(['check']);
    expect(code).toBe(0);
    expect(plain(err)).toMatch(/^Reads of audiences$/m);
    expect(plain(out)).toMatch(
      /^No checked assumption differs\. To check \d+ more assumptions, pass --write\.$[\s\S]+^\d+ confirmed, \d+ likely/m,
    );
    expect(plain(out)).toMatch(/^The check sent \d+ reads and 0 writes\. To print each assumption, pass --all\.$/m);
  });

  it('wait without jobs is wrong usage', async () => {
    const { run } = await startScene({}, TERMINAL);
    expect(await run(['wait'])).toMatchObject({ code: 2, err: expect.stringContaining('Pass the jobs to wait for') });
  });

  it('every command that needs nobody at the keyboard prints text for people', async () => {
    const { client, run, folder } = await startScene({}, TERMINAL);
    const file = join(folder, 'a.csv');
    await writeFile(file, 'id\n1\n');
    const audience = await client.audiences.create({ name: 'a' });
    const activation = await client.activations.create({ audience_id: audience.id });
    const receiver = await serve((request, response) => void request.resume().on('end', () => response.end()));
    const id = String(audience.id);
    const commands: readonly (readonly [readonly string[], RegExp])[] = [
      [['audiences', 'create', '--name', 'b'], /^name {2,}b$/m],
      [['audiences', 'get', id], /^name {2,}a$/m],
      [['lookalikes', 'create', '--source-audience-id', id, '--target-size', '9'], /^is_lookalike {2,}true$/m],
      [['estimates', 'create', '--name', 'e'], /^status\.id {2,}\d+$/m],
      [['projects', 'create', '--name', 'p'], /^name {2,}p$/m],
      [['schedules', 'create', '--name', 's'], /^name {2,}s$/m],
      [['cohorts', 'import', file], /^name {2,}a\.csv$/m],
      [['activations', 'list'], /^ID {2,}DESCRIPTION {2,}AUDIENCE {2,}STATUS/m],
      [['activations', 'download', String(activation.id), join(folder, 'out')], /^PATH {2,}SIZE$/m],
      [['explain', id], /Activation of audience \d+ is allowed\./],
      [['reference', 'web', 'domains', '--limit', '1'], /^ID {2,}NAME$/m],
      [['usage'], /^build_budget\.hour\.limit {2,}60$/m],
      [['budget'], /^hour\.left {2,}\d+$/m],
      [['webhooks', 'list'], /There are no webhook endpoints\./],
      [['request', 'GET', '/api/v2/webhooks/index'], /^\[\]$/m],
      [['trigger', 'webhook.test', '--forward-to', receiver.url, '--secret', 'x'], /^result {2,}200$/m],
      [['whoami'], /^token_from {2,}AUDIENCE_TOKEN$/m],
      [['logout'], /is not logged in\./],
      [['audiences', 'delete', id], /: deleted\./],
    ];
    for (const [args, expected] of commands) {
      const { code, out, err } = await run(args);
      expect({ args, code, text: plain(out + err) }).toEqual({ args, code: 0, text: expect.stringMatching(expected) });
    }
  });
});
