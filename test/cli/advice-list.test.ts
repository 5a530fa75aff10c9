import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tableAfter } from '../support/documentation.ts';

const ROWS = tableAfter('# The command', readFileSync('docs/contributing/advice-command.md', 'utf8')).slice(1);

/** The code of the command. Quotes and backticks are not escaped. */
const SOURCE = globSync('src/cli/**/*.ts')
  .map((file) => readFileSync(file, 'utf8').replaceAll('\\', ''))
  .join('\n');

/** Codes of the errors of the client and of the command. */
const CODES = readFileSync('src/cli/exit-codes.ts', 'utf8');

describe('the list of advice of the command', () => {
  it.each(ROWS)('names a text of the command, its code and a test of it: %s', (message = '', codes = '', test = '') => {
    for (const part of message.split('…')) expect(SOURCE).toContain(part.trim());
    for (const [, code = ''] of codes.matchAll(/`([a-z-]+)`/g)) {
      if (code !== 'unknown') expect(CODES).toMatch(new RegExp(`^ {2}'?${code}'?: EXIT\\.`, 'm'));
    }
    const [title = '', file = 'advice.test.ts'] = test.split(' › ').reverse();
    expect(readFileSync(`test/cli/${file}`, 'utf8')).toContain(`'${title}'`);
  });
});
