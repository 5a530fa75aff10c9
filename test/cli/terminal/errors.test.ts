import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMAND_ERRORS } from '../../../src/cli/terminal/exit-codes.ts';
import { tableAfter } from '../../support/documentation.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

describe('errors for people', () => {
  it('each invalid field and the time to try again are printed once', async () => {
    const { run } = await startScene({ faults: [{ on: 'usage.get', status: 429, retryAfter: 600 }] });
    const invalid = await run(['audiences', 'create', '--name', 'x', '--project-id', '99']);
    expect(invalid.err.match(/project_id/g)).toHaveLength(1);
    expect(invalid.err).toMatch(/^error: [^\n]*invalid\. This call created nothing\.\n {2}project_id: /);
    const local = await run(['lookalikes', 'create', '--target-size', '5000000']);
    expect(local.err).toBe(
      'error: lookalikes.create was not sent. Nothing was created.\n' +
        '  config.target_size: must be an integer from 1 to 4000000.\n',
    );
    const limited = await run(['budget']);
    expect(limited.err.match(/\d{4}-\d\d-\d\dT/g)).toHaveLength(1);
  });
});

const CODES: readonly (readonly [code: string, args: readonly string[], env: Record<string, string | undefined>])[] = [
  ['token-command-failed', ['budget', '--token-command', 'exit 3'], {}],
  ['token-command-failed', ['wait', '1', '--token-command', 'exit 3'], {}],
  ['config-folder-missing', ['login'], { HOME: '', AUDIENCE_CONFIG_DIR: undefined }],
  ['input-unreadable', ['audiences', 'create', '--data', '@missing.json'], {}],
  ['event-refused', ['trigger', 'audience.completed', '--forward-to', 'http://127.0.0.1:4/'], {}],
  ['sandbox-not-found', ['sandbox', 'status'], {}],
];

describe('codes of errors', () => {
  it.each(CODES)('%s', async (code, args, env) => {
    const { run } = await startScene();
    const { err } = await run([...args, '--json'], { env });
    expect(linesOf(err).at(-1)).toMatchObject({ code });
  });

  it('sandbox-not-started', async () => {
    const { run, url } = await startScene();
    const { err } = await run(['sandbox', '--port', new URL(url).port, '--json']);
    expect(linesOf(err)).toMatchObject([{ code: 'sandbox-not-started', exitCode: 1 }]);
  });

  it('all are in the guide, with their exit codes', () => {
    const rows = tableAfter('### Codes of errors', readFileSync('docs/cli.md', 'utf8')).slice(1);
    const listed = Object.fromEntries(
      rows.map(([code = '', exitCode]) => [code.replaceAll('`', ''), Number(exitCode)]),
    );
    expect(listed).toEqual(COMMAND_ERRORS);
  });
});
