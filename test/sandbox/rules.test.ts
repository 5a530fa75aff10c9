import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

interface Rule {
  readonly rule: string;
  readonly file: string | undefined;
  readonly title: string | undefined;
}

const PAGE = 'docs/contributing/sandbox-rules.md';
const page = readFileSync(PAGE, 'utf8');
const rules: Rule[] = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:rule|---) \|/.test(line))
  .map((line) => {
    const [rule = '', test = ''] = line.slice(2, -2).split(' | ');
    const [, file, title] = /^`([\w-]+)` › (.+)$/.exec(test) ?? [];
    return { rule, file, title };
  });

/** Returns the titles of the tests in a file that run: `it(…)` and `it.each(…)(…)`, not `it.skip` or `it.todo`. */
function titlesOf(file: string): string[] {
  const [path] = globSync(`test/sandbox/**/${file}{,.process}.test.ts`);
  if (path === undefined) throw new Error(`${PAGE} names a test file that does not exist: ${file}`);
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^it(?:\.each(?:<[^>]*>)?\([\s\S]*\))?$/.test(node.expression.getText(source))) {
      const [title] = node.arguments;
      if (title && ts.isStringLiteralLike(title)) titles.push(title.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

describe(`the rules of ${PAGE}`, () => {
  it('the page has rules of every section of the specification', () => {
    expect(rules.length).toBeGreaterThan(80);
    const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual([
      'Resources and their fields',
      'States and transitions',
      'Endpoints',
      'Authentication',
      'Events',
      'Errors',
      'Limits',
      'Versioning',
    ]);
  });

  it.each(rules)('a test proves: $rule', ({ file, title }) => {
    if (file === undefined || title === undefined) throw new Error('The row must name a test: `file` › title.');
    expect(titlesOf(file)).toContain(title);
  });
});
