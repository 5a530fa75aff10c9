import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assumptionsPage } from '../../scripts/assumptions.ts';
import { findImportProblems } from '../../scripts/imports.ts';
import { releaseProblems } from '../../scripts/release-checks.ts';

describe('docs/assumptions.md', () => {
  it('is what the operation table says (npm run docs:assumptions)', () => {
    expect(readFileSync('docs/assumptions.md', 'utf8')).toBe(assumptionsPage());
  });
});

describe('the test run', () => {
  const everySuite = { CHROMIUM_PATH: process.execPath, REDIS_SERVER_PATH: process.execPath };

  it.each([
    ['checks coverage where every suite runs', everySuite, true],
    ['checks no coverage without a browser', { ...everySuite, CHROMIUM_PATH: '/missing' }, false],
    ['checks no coverage without Redis', { ...everySuite, REDIS_SERVER_PATH: '/missing' }, false],
    ['checks coverage in CI, whatever is missing', { ...everySuite, CHROMIUM_PATH: '/missing', CI: 'true' }, true],
  ])('%s', (_, environment, checked) => {
    const program =
      "import('./vitest.config.ts').then(({ default: { test } }) => console.log('thresholds' in test.coverage))";
    const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      env: { PATH: process.env.PATH, ...environment },
      encoding: 'utf8',
    });
    expect(output.trim()).toBe(String(checked));
  });
});

describe('imports', () => {
  const file = (path: string, text: string) => ({ path, text });

  it('of the sources run downward and in no circle', () => {
    const files = globSync('**/*.ts', { cwd: 'src' }).map((path) => file(path, readFileSync(`src/${path}`, 'utf8')));
    expect(files.length).toBeGreaterThan(40);
    expect(findImportProblems(files)).toEqual([]);
  });

  it('upward are found, of types, too', () => {
    const problems = findImportProblems([
      file('transport/a.ts', "import type { B } from '../resources/b.ts';"),
      file('schemas/s.ts', "export * from '../waiting/w.ts';"),
    ]);
    expect(problems).toEqual([
      'transport/a.ts imports upward: resources/b.ts',
      'schemas/s.ts imports sideways: waiting/w.ts',
    ]);
  });

  it('in a circle are found', () => {
    const problems = findImportProblems([
      file('transport/a.ts', "import { b } from './b.ts';"),
      file('transport/b.ts', "import { c, type D } from './c.ts';"),
      file('transport/c.ts', "export { a } from './a.ts';"),
      file('transport/d.ts', "import type { a } from './d.ts';"),
    ]);
    expect(problems).toEqual(['cycle: transport/a.ts → transport/b.ts → transport/c.ts → transport/a.ts']);
  });

  it('of types of resources may go upward, their code may not', () => {
    const problems = findImportProblems([
      file('errors/a.ts', "import type { T } from '../schemas/t.ts';"),
      file('errors/b.ts', "import { schema, type T } from '../schemas/t.ts';"),
    ]);
    expect(problems).toEqual(['errors/b.ts imports upward: schemas/t.ts']);
  });

  it('of the client’s code into the sandbox are found', () => {
    const problems = findImportProblems([
      file(
        'sandbox/x.ts',
        "import { sign } from '../transport/sign.ts';\nimport type { T } from '../schemas/t.ts';\nimport { operations } from '../operations.ts';",
      ),
    ]);
    expect(problems).toEqual(['sandbox/x.ts takes code of the client: transport/sign.ts']);
  });

  it('of files on no floor are found', () => {
    expect(findImportProblems([file('attic/x.ts', "import './y.ts';")])).toEqual([
      'attic/x.ts is on no floor; add it to scripts/imports.ts',
    ]);
  });
});

describe('a release', () => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-22\n\n- News.\n\n## [1.1.0] - 2026-01-01\n\n- Old.\n';
  const ready = { version: '1.2.0', repository: 'x', changelog, changes: '', tags: ['v1.1.0'], provable: true };

  it('may be made from a clean tree, with notes, once', () => {
    expect(releaseProblems(ready)).toEqual([]);
  });

  it.each([
    ['changes', { changes: ' M README.md\n' }, 'There are changes that are not committed.'],
    ['a tag that exists', { tags: ['v1.2.0'] }, 'The tag v1.2.0 exists: raise the version in package.json.'],
    ['no notes', { version: '1.3.0' }, 'CHANGELOG.md tells nothing of 1.3.0: give it "## [1.3.0] - <date>".'],
    [
      'notes under Unreleased',
      { changelog: changelog.replace('[Unreleased]', '[Unreleased]\n\n- More.') },
      'CHANGELOG.md has notes under [Unreleased]: move them to the version.',
    ],
    ['no repository', { repository: undefined }, 'package.json has no `repository`, to which npm ties the provenance.'],
    ['a place without identity tokens', { provable: false }, expect.stringMatching(/^Provenance needs a CI/)],
    ['a wrong version', { version: 'next' }, 'package.json: "next" is no version.'],
  ])('is refused with %s', (_, change, problem) => {
    expect(releaseProblems({ ...ready, ...change })).toContainEqual(problem);
  });
});
