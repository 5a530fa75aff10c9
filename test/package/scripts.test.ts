import { describe, expect, it } from 'vitest';
import { findImportProblems } from '../../scripts/imports.ts';
import { publicationProblems, releaseProblems } from '../../scripts/release-checks.ts';

describe('findImportProblems', () => {
  const file = (path: string, text: string) => ({ path, text });

  it('finds imports upward and sideways, also of types', () => {
    const problems = findImportProblems([
      file('client/http/a.ts', "import type { B } from '../resources/b.ts';"),
      file('client/storage/s.ts', "export * from '../polling/p.ts';"),
      file('client/polling/p.ts', "import { client } from '../../redis/index.ts';"),
      file('errors/e.ts', "import type { T } from '../client/index.ts';"),
    ]);
    expect(problems).toEqual([
      'client/http/a.ts imports upward: client/resources/b.ts',
      'client/storage/s.ts imports sideways: client/polling/p.ts',
      'client/polling/p.ts imports upward: redis/index.ts',
      'errors/e.ts imports upward: client/index.ts',
    ]);
  });

  it('finds imports past the index of the client, which its own files may bypass', () => {
    const problems = findImportProblems([
      file('oauth/a.ts', "import type { Fetch } from '../client/http/send.ts';"),
      file('oauth/b.ts', "import type { Fetch } from '../client/index.ts';"),
      file('client/c.ts', "import { send } from './http/send.ts';"),
      file('index.ts', "export type { Fetch } from './client/http/send.ts';"),
    ]);
    expect(problems).toEqual(['oauth/a.ts imports past client/index.ts: client/http/send.ts']);
  });

  it('finds circular imports', () => {
    const problems = findImportProblems([
      file('client/http/a.ts', "import { b } from './b.ts';"),
      file('client/http/b.ts', "import { c, type D } from './c.ts';"),
      file('client/http/c.ts', "export { a } from './a.ts';"),
    ]);
    expect(problems).toEqual(['circle: client/http/a.ts → client/http/b.ts → client/http/c.ts → client/http/a.ts']);
  });

  it('finds code of the client in the sandbox, which may import types and `spec`', () => {
    const problems = findImportProblems([
      file(
        'sandbox/x.ts',
        "import { sign } from '../client/index.ts';\nimport type { T } from '../client/index.ts';\nimport { operations } from '../spec/operations.ts';",
      ),
    ]);
    expect(problems).toEqual(['sandbox/x.ts imports code of the client: client/index.ts']);
  });

  it('finds errors in the command, whose classes would exist twice', () => {
    const problems = findImportProblems([
      file(
        'cli/x.ts',
        "import { ApiError } from '../errors/api-errors.ts';\nimport { isObject } from '../util/json.ts';",
      ),
    ]);
    expect(problems).toEqual(['cli/x.ts imports past the entries: errors/api-errors.ts']);
  });

  it('finds files without a layer, without a folder, and with the same name', () => {
    const problems = findImportProblems([
      file('attic/x.ts', "import '../util/y.ts';"),
      file('loose.ts', ''),
      file('client/http/x.ts', ''),
    ]);
    expect(problems).toEqual([
      'loose.ts is in no folder',
      'attic/x.ts is in no layer: add its folder to scripts/imports.ts',
      'same name: attic/x.ts, client/http/x.ts',
    ]);
  });
});

describe('a release', () => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-11-22\n\n- News.\n\n## [1.1.0] - 2026-01-01\n\n- Old.\n';
  const ready = {
    version: '1.2.0',
    missing: [] as string[],
    changelog,
    changes: '',
    tags: ['v1.1.0'],
    hasProvenance: true,
  };

  it('is possible from a clean tree with notes and without its tag', () => {
    expect([...releaseProblems(ready), ...publicationProblems(ready)]).toEqual([]);
  });

  it.each([
    ['changes', { changes: ' M README.md\n' }, 'There are uncommitted changes.'],
    ['a tag that exists', { tags: ['v1.2.0'] }, 'The tag v1.2.0 exists. Increase the version in package.json.'],
    ['no notes', { version: '1.3.0' }, 'CHANGELOG.md has no notes about 1.3.0. Add "## [1.3.0] - <date>".'],
    [
      'notes under Unreleased',
      { changelog: changelog.replace('[Unreleased]', '[Unreleased]\n\n- More.') },
      'CHANGELOG.md has notes under [Unreleased]. Move them to the version.',
    ],
    [
      'no public addresses',
      { missing: ['repository', 'bugs'] },
      expect.stringMatching(/^package\.json has no `repository`, `bugs`: set public addresses/),
    ],
    ['a place without identity tokens', { hasProvenance: false }, expect.stringMatching(/^Provenance needs a CI/)],
    ['a wrong version', { version: 'next' }, 'package.json: "next" must be a version, e.g. "1.2.3".'],
  ])('is refused with %s', (_, change, problem) => {
    const facts = { ...ready, ...change };
    expect([...releaseProblems(facts), ...publicationProblems(facts)]).toContainEqual(problem);
  });
});
