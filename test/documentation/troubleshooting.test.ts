import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../src/index.ts';
import { PROVOKED } from './messages.ts';

const PAGE = readFileSync('docs/troubleshooting.md', 'utf8');

/** Returns the text of a cell that is one code span. */
const codeIn = (cell = ''): string | undefined => /^(`+) ?(.*?) ?\1$/.exec(cell.trim())?.[2];

/** The source texts, with escaped quotes as they are printed. */
const SOURCES = globSync('src/!(sandbox)/**/*.ts')
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')
  .replaceAll(/\\([`'"])/g, '$1');

/** The texts of the tables without error codes: of the command, log lines, and responses of the receiver. */
const PRINTED = PAGE.split('\n').flatMap((line) => {
  const cells = line.split('|').slice(1, -1);
  return codeIn(cells.length === 2 ? cells[0] : /^ (?:\d{3}|none) $/.test(cells[0] ?? '') ? cells[1] : '') ?? [];
});

/** Returns the parts of a text around `…`, which stands for anything. */
const partsOf = (text: string): string[] => text.split('…').map((part) => part.trim());

/** The message and the code of each row of the tables of messages. */
const ROWS = PAGE.slice(0, PAGE.indexOf('## All codes'))
  .split('\n')
  .filter((line) => line.startsWith('| `') && !line.startsWith('| `code`'))
  .map((line) => line.split('|').slice(1, 3).map(codeIn))
  .filter(([, code]) => code !== undefined);

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

  it('lists texts of the command and log lines as the sources have them', () => {
    const texts = PRINTED.slice(0, PRINTED.indexOf('account-changed'));
    expect(texts.length).toBeGreaterThan(60);
    expect(texts.filter((text) => !partsOf(text).every((part) => SOURCES.includes(part)))).toEqual([]);
  });

  it('lists every text that is logged as it is written in a call of the logger', () => {
    const logged = [...SOURCES.matchAll(/logger\.(?:warn|error)\(\s*(['`])(.*?)\1[,)\n]/g)].map(
      ([, , text = '']) => text,
    );
    expect(logged.length).toBeGreaterThan(8);
    const isSentence = (text: string): boolean => /[a-z] [a-z]/.test(text.replaceAll(/\$\{[^}]*\}/g, ''));
    const isListed = (text: string): boolean =>
      PRINTED.some((printed) => partsOf(printed).every((part) => text.includes(part)));
    expect(logged.filter((text) => isSentence(text) && !isListed(text))).toEqual([]);
  });

  it('lists every code, in alphabetical order', () => {
    const codes = [...PAGE.slice(PAGE.indexOf('## All codes')).matchAll(/^\| `([\w-]+)` \|/gm)].map(([, code]) => code);
    expect(codes).toEqual(Object.keys(ERROR_CODES).sort());
  });
});
