/** Facts that decide whether a release is possible. */
export interface ReleaseFacts {
  /** Version of package.json. */
  readonly version: string;
  /** Fields of package.json with public addresses that are not set. */
  readonly missing: readonly string[];
  readonly changelog: string;
  /** Output of `git status --porcelain`. */
  readonly changes: string;
  /** Existing tags. */
  readonly tags: readonly string[];
  /** `true` in a CI that issues identity tokens, with which npm can prove where the package was built. */
  readonly hasProvenance: boolean;
}

const VERSION = /^\d+\.\d+\.\d+(?:-[\w.]+)?$/;

/** Returns the notes under a heading of the changelog, or an empty string. */
function notesUnder(heading: RegExp, changelog: string): string {
  const sections = changelog.split(/^## /m).map((section) => section.split(/\n([\s\S]*)/));
  return sections.find(([title = '']) => heading.test(title))?.[1]?.trim() ?? '';
}

/** Returns the problems of the commit that prevent a release. */
export function releaseProblems(facts: ReleaseFacts): string[] {
  const { version, changelog, changes, tags } = facts;
  const problems: readonly (string | false)[] = [
    !VERSION.test(version) && `package.json: "${version}" must be a version, e.g. "1.2.3".`,
    changes.trim() !== '' && 'There are uncommitted changes.',
    tags.includes(`v${version}`) && `The tag v${version} exists. Increase the version in package.json.`,
    notesUnder(new RegExp(`^\\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`), changelog) === '' &&
      `CHANGELOG.md has no notes about ${version}. Add "## [${version}] - <date>".`,
    notesUnder(/^\[Unreleased\]$/, changelog) !== '' &&
      'CHANGELOG.md has notes under [Unreleased]. Move them to the version.',
  ];
  return problems.filter((problem) => problem !== false);
}

/** Returns what prevents a publication from here: it depends on where the package is published, not on the commit. */
export function publicationProblems({ missing, hasProvenance }: ReleaseFacts): string[] {
  const problems: readonly (string | false)[] = [
    missing.length > 0 &&
      `package.json has no ${missing.map((field) => `\`${field}\``).join(', ')}: set public addresses, and name them in README.md and SECURITY.md. npm needs \`repository\` for provenance.`,
    !hasProvenance && 'Provenance needs a CI with identity tokens (`id-token: write`). Release from there.',
  ];
  return problems.filter((problem) => problem !== false);
}
