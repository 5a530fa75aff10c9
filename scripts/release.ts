/**
 * Releases the version in package.json: checks it, runs every test, publishes with provenance, and creates the tag.
 *
 *   npm run release              in a CI with identity tokens
 *   npm run release -- --dry-run checks, tests and packs; says what a publication needs besides, and publishes nothing
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { publicationProblems, type ReleaseFacts, releaseProblems } from './release-checks.ts';

const dryRun = process.argv.includes('--dry-run');
const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' });

function run(command: string, ...args: string[]): void {
  console.log(`> ${command} ${args.join(' ')}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status === 0) return;
  console.error(`${command} ${args.join(' ')} failed. The release has stopped.`);
  process.exit(status ?? 1);
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { version } = manifest;
const facts: ReleaseFacts = {
  version,
  missing: ['repository', 'homepage', 'bugs'].filter((field) => manifest[field] === undefined),
  changelog: readFileSync('CHANGELOG.md', 'utf8'),
  changes: git('status', '--porcelain'),
  tags: git('tag').split('\n'),
  // npm detects GitHub Actions and GitLab CI by these variables, too.
  hasProvenance: Boolean(process.env.ACTIONS_ID_TOKEN_REQUEST_URL ?? process.env.SIGSTORE_ID_TOKEN),
};
const problems = [...releaseProblems(facts), ...(dryRun ? [] : publicationProblems(facts))];
if (dryRun) for (const problem of publicationProblems(facts)) console.error(`To publish: ${problem}`);
for (const problem of problems) console.error(`✗ ${problem}`);
if (problems.length > 0) process.exit(1);

for (const script of ['check', 'test:full', 'test:package', 'test:volume', 'test:soak', 'test:mutation'])
  run('npm', 'run', '-s', script);
if (dryRun) {
  run('npm', 'publish', '--dry-run');
} else {
  run('npm', 'publish', '--provenance', '--access', 'public');
  run('git', 'tag', `v${version}`);
  run('git', 'push', 'origin', `v${version}`);
}
