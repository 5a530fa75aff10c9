/** What a release is judged by. */
export interface ReleaseFacts {
  /** Of package.json. */
  readonly version: string;
  readonly repository: unknown;
  readonly changelog: string;
  /** What `git status --porcelain` prints. */
  readonly changes: string;
  /** Tags there are. */
  readonly tags: readonly string[];
  /** Whether npm can prove where the package was built: in a CI that issues identity tokens. */
  readonly provable: boolean;
}

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/** The notes under a heading of the changelog; empty where there are none. */
function notesUnder(heading: RegExp, changelog: string): string {
  const sections = changelog.split(/^## /m).map((section) => section.split(/\n([\s\S]*)/));
  return sections.find(([title = '']) => heading.test(title))?.[1]?.trim() ?? '';
}

/** What keeps a version from being released; empty when nothing does. */
export function releaseProblems(facts: ReleaseFacts): string[] {
  const { version, repository, changelog, changes, tags, provable } = facts;
  const problems: readonly (string | false)[] = [
    !VERSION.test(version) && `package.json: "${version}" is no version.`,
    changes.trim() !== '' && 'There are changes that are not committed.',
    tags.includes(`v${version}`) && `The tag v${version} exists: raise the version in package.json.`,
    notesUnder(new RegExp(`^\\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`), changelog) === '' &&
      `CHANGELOG.md tells nothing of ${version}: give it "## [${version}] - <date>".`,
    notesUnder(/^\[Unreleased\]$/, changelog) !== '' &&
      'CHANGELOG.md has notes under [Unreleased]: move them to the version.',
    repository === undefined && 'package.json has no `repository`, to which npm ties the provenance.',
    !provable && 'Provenance needs a CI with identity tokens (`id-token: write`): release from there.',
  ];
  return problems.filter((problem) => problem !== false);
}
