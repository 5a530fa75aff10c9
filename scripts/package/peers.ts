import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { minVersion, satisfies } from 'semver';
import { startRedis } from '../../examples/support/redis.ts';
import { run } from './commands.ts';
import { type Projects, ROOT, writeProgram } from './project.ts';
import type { Step } from './report.ts';
import { writeSources } from './types.ts';
import { PEERS, TYPESCRIPTS, typescriptAlias } from './versions.ts';

const USES = 'installed without flags, every entry of the package';

type Versions = keyof typeof PEERS;

/** Steps that use the package with its peers: the lowest versions, those of earlier majors, and the latest. */
export const peerSteps = (projects: Projects): Step[] => [
  { name: 'the peer ranges begin with the lowest versions that are tested', work: checkRanges },
  ...(['lowest', 'earlier', 'latest'] as const).flatMap((versions) => [
    { name: `${titleOf(versions)}: ${USES}`, work: () => runProgram(projects, versions) },
    // The oldest compiler takes a minute for each.
    ...(versions === 'earlier' ? [TYPESCRIPTS[3]] : [TYPESCRIPTS[0], TYPESCRIPTS[3]]).map((version) => ({
      name: `${titleOf(versions)}: their types, TypeScript ${version}, strict, with the declarations checked`,
      work: () => compile(projects, versions, version),
    })),
  ]),
];

const titleOf = (versions: Versions): string =>
  `${versions} peers (${['ioredis', 'redis', 'msw'].map((name) => `${name} ${peersOf(versions)[name]}`).join(', ')}, …)`;

const peersOf = (versions: Versions): Readonly<Record<string, string>> => PEERS[versions];

async function checkRanges(): Promise<void> {
  const { peerDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const [name, range] of Object.entries<string>(peerDependencies)) {
    const { [name]: lowest = 'none' } = peersOf('lowest');
    if (minVersion(range)?.version !== lowest) throw new Error(`${name}: ${range} does not begin with ${lowest}.`);
    const { [name]: latest = 'none' } = peersOf('latest');
    if (!satisfies(latest, range)) throw new Error(`${name}: ${range} excludes ${latest}.`);
  }
}

async function runProgram({ withPeers }: Projects, versions: Versions): Promise<void> {
  const cwd = await withPeers(versions);
  const file = await writeProgram(cwd, 'peers', 'esm', 'peers.mjs');
  const redis = await startRedis();
  try {
    const { stdout } = await run(process.execPath, [file, redis.url], { cwd });
    if (stdout !== 'done\n') throw new Error(`It wrote: ${stdout}`);
  } finally {
    await redis.stop();
  }
}

async function compile({ withPeers, tools }: Projects, versions: Versions, typescript: string): Promise<void> {
  const cwd = await withPeers(versions);
  const options = { module: 'nodenext', allowImportingTsExtensions: true };
  const folder = await writeSources(join(cwd, `types-${typescript}`), ['peers.ts', 'exercise.ts', 'check.ts'], options);
  const compiler = join(await tools(), 'node_modules', typescriptAlias(typescript), 'bin', 'tsc');
  // The types of zod 3, which the older MCP package uses, take long.
  await run(process.execPath, [compiler, '-p', folder], { cwd, timeout: 240_000 });
}
