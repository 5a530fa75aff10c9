import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/index.ts';
import { PROVOKED } from './messages.ts';

const PAGE = readFileSync('docs/troubleshooting.md', 'utf8');

/** Returns the text of a cell that is one code span. */
const codeIn = (cell = ''): string | undefined => /^(`+) ?(.*?) ?\1$/.exec(cell.trim())?.[2];

/** The message and the code of each row of the tables of messages. */
const ROWS = PAGE.slice(0, PAGE.indexOf('## All codes'))
  .split('\n')
  .filter((line) => line.startsWith('| `') && !line.startsWith('| `code`'))
  .map((line) => line.split('|').slice(1, 3).map(codeIn));

/** Returns a pattern for a message, in which `…` stands for anything. */
const patternOf = (message: string): RegExp =>
  new RegExp(
    message
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
    's',
  );

/** Returns what a function throws, or its promise rejects with. */
async function thrownBy(provoke: (() => unknown) | undefined): Promise<{ code?: string; message: string }> {
  try {
    await provoke?.();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('Nothing failed.');
}

describe('docs/troubleshooting.md', () => {
  it.each(ROWS)('the package really reports: %s (%s)', async (message = '', code) => {
    const error = await thrownBy(PROVOKED[message]);
    expect(String(error)).toMatch(patternOf(message));
    expect(error.code).toBe(code);
  });

  it('explains every message that is provoked here', () => {
    expect(ROWS.map(([message]) => message).sort()).toEqual(Object.keys(PROVOKED).sort());
  });

  it('lists every code, in alphabetical order', () => {
    const codes = [...PAGE.slice(PAGE.indexOf('## All codes')).matchAll(/^\| `([\w-]+)` \|/gm)].map(([, code]) => code);
    expect(codes).toEqual(Object.keys(ERROR_CODES).sort());
  });
});
