import { describe, expect, it } from 'vitest';
import { findWords } from '../../scripts/words.ts';

const termsIn = (path: string, text: string): string[] =>
  findWords({ path, text }).map((problem) => problem.replace(/^.*?:(\d+): "(.*)": use .*$/, '$1 $2'));

describe('the check of terms', () => {
  it('reports the line, the term and the standard one', () => {
    expect(findWords({ path: 'a.md', text: 'Calls fail\nat once.\n' })).toEqual([
      'a.md:2: "at once": use immediately, at the same time',
    ]);
  });

  it('reads the prose of Markdown, also across lines, and no code', () => {
    const text = '# Told anew\n```ts\nanew();\n```\nIt `anew` goes\non. See [b](anew.md).\n';
    expect(termsIn('a.md', text)).toEqual(['1 Told', '1 anew', '5 goes on']);
  });

  it('reads comments and strings of several words in code', () => {
    const text = [
      "import { anew } from './anew.ts';",
      `const value = 'anew', pattern = /by itself/, label = \`the \${anew} goes on\`;`,
      '/* a retry of its\n * own */ // all the same, `of its own`',
    ].join('\n');
    expect(termsIn('a.ts', text)).toEqual(['2 goes on', '3 of its own', '4 all the same']);
  });

  it('splits declared names at their humps, and leaves other names alone', () => {
    const text =
      'const LOOK_AGAIN = lane.look(); class WaitDesk { #tellAll() {} }\nfunction f(given: Lookalike, { told: x }) {}';
    expect(termsIn('a.ts', text)).toEqual(['1 LOOK_AGAIN', '1 WaitDesk', '1 #tellAll', '2 given']);
  });

  it.each(['What', 'Whether', 'Who'])('reports a doc comment that begins with "%s"', (word) => {
    expect(termsIn('a.ts', `/** ${word} it is. */\n/**\n * ${word} it is.\n */\n// ${word} it is.`)).toEqual([
      `1 ${word}`,
      `2 ${word}`,
    ]);
  });

  it('accepts standard uses of the same words', () => {
    const text =
      'Look up whole numbers. There is no limit. It gives up; the mint bucket; is no longer; looks like; to give back. It answers 401.';
    expect(termsIn('a.md', text)).toEqual([]);
  });
});
