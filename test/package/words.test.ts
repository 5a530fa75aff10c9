import { describe, expect, it } from 'vitest';
import { countTics } from '../../scripts/tics.ts';
import { findWords } from '../../scripts/words.ts';

const termsIn = (path: string, text: string): string[] =>
  findWords({ path, text }).map((problem) => problem.replace(/^.*?:(\d+): "(.*)": use .*$/, '$1 $2'));

describe('the check of terms', () => {
  it('reports the line, the term and the standard one', () => {
    expect(findWords({ path: 'a.md', text: 'Calls heed\nthe limit.\n' })).toEqual([
      'a.md:1: "heed": use the standard term: see the glossary',
    ]);
  });

  it('reads the prose of Markdown, also across lines, and no code', () => {
    const text = '# Begun anew\n```ts\nanew();\n```\nIt `anew` sat\nout. See [b](anew.md).\n';
    expect(termsIn('a.md', text)).toEqual(['1 anew', '5 sat out']);
  });

  it('reads comments and strings of several words in code', () => {
    const text = [
      "import { anew } from './anew.ts';",
      `const value = 'anew', pattern = /be had/, label = \`the \${anew} sat out\`;`,
      '/* a retry of its\n * own */ // to be had, `of its own`',
    ].join('\n');
    expect(termsIn('a.ts', text)).toEqual(['2 sat out', '3 of its own', '4 be had']);
  });

  it('splits declared names at their humps, and leaves other names alone', () => {
    const text =
      'const LOOK_AGAIN = lane.look(); class WaitDesk { #turnAll() {} }\nfunction f(given: Lookalike, { told: x }) {}';
    expect(termsIn('a.ts', text)).toEqual(['1 LOOK_AGAIN', '1 WaitDesk', '1 #turnAll', '2 given']);
  });

  it.each(['What', 'Whether', 'Who'])('reports a doc comment that begins with "%s"', (word) => {
    expect(termsIn('a.ts', `/** ${word} it is. */\n/**\n * ${word} it is.\n */\n// ${word} it is.`)).toEqual([
      `1 ${word}`,
      `2 ${word}`,
    ]);
  });

  it.each([
    'The whole list is read at once, all the same.',
    'It tells you what to do, and gives an answer; the other goes on by itself.',
    'There is no limit: look at the list, or look for the key.',
    'The mint bucket allows ten requests.',
  ])('accepts plain English: %s', (text) => {
    expect(termsIn('a.md', text)).toEqual([]);
  });
});

describe('the count of tics', () => {
  const placesOf = (name: string, text: string) =>
    countTics([{ path: 'a.md', text }]).find((count) => count.name.includes(name))?.places;

  it('names the line and the text, across lines and with inline code, and reads no blocks of code', () => {
    expect(placesOf('"that of"', 'A\n```ts\nthat of\n```\nis that\nof b.')).toEqual(['a.md:5: "that of"']);
    expect(placesOf('its error', 'A second 401 is an `AuthenticationError`.')).toEqual([
      'a.md:1: "is an `AuthenticationError`"',
    ]);
    expect(placesOf('an instrument', 'Read by [its id](by its.md).')).toEqual([]);
  });

  it('relates the number to 10,000 words', () => {
    const files = [
      { path: 'a.md', text: 'It; is. '.repeat(50) },
      { path: 'b.md', text: 'word '.repeat(100) },
    ];
    expect(countTics(files).map(({ rate }) => rate)[0]).toBe(2_500);
  });
});
