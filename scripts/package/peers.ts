import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { minVersion, satisfies } from 'semver';
import { startRedis } from '../../examples/support/redis.ts';
import { expectOutput, run } from './commands.ts';
import { type Projects, ROOT, type Step, writeProgram } from './project.ts';
import { compile } from './types.ts';
import { PEERS, TYPESCRIPTS } from './versions.ts';

type Versions = keyof typeof PEERS;

const titleOf = (versions: Versions): string =>
  `${versions} peers (ioredis ${PEERS[versions].ioredis}, redis ${PEERS[versions].redis}, msw ${PEERS[versions].msw}, …)`;

/** Steps that use the package with its peers: the lowest versions, versions of earlier majors, and the latest. */
export const peerSteps = (projects: Projects): Step[] => [
  { name: 'the peer ranges begin with the lowest versions that are tested', work: checkRanges },
  ...(['lowest', 'earlier', 'latest'] as const).flatMap((versions) => [
    { name: `${titleOf(versions)}: installed without flags`, work: () => runPeers(projects, versions) },
    // The oldest compiler is slow, so use it only for the latest peers.
    ...(versions === 'latest' ? [TYPESCRIPTS[0], TYPESCRIPTS[3]] : [TYPESCRIPTS[3]]).map((typescript) => ({
      name: `${titleOf(versions)}: their types, TypeScript ${typescript}, strict, with the declarations checked`,
      async work() {
        const paths = ['peers', 'tasks'].map((name) => `scripts/package/programs/${name}.ts`);
        const project = await projects.project(`${versions}-peers`, PEERS[versions]);
        await compile(projects, project, 'peers', typescript, { paths, options: { module: 'nodenext' } });
      },
    })),
  ]),
];

async function checkRanges(): Promise<void> {
  const { peerDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const lowest: Readonly<Record<string, string>> = PEERS.lowest;
  const latest: Readonly<Record<string, string>> = PEERS.latest;
  for (const [name, range] of Object.entries<string>(peerDependencies)) {
    if (minVersion(range)?.version !== lowest[name]) throw new Error(`${name}: ${range} begins below ${lowest[name]}.`);
    if (!satisfies(latest[name] ?? '', range)) throw new Error(`${name}: ${range} excludes ${latest[name]}.`);
  }
}

async function runPeers({ project }: Projects, versions: Versions): Promise<void> {
  const cwd = await project(`${versions}-peers`, PEERS[versions]);
  const file = await writeProgram(cwd, 'peers.mjs', "import './peers.ts';");
  const redis = await startRedis();
  try {
    expectOutput('done', await run(cwd, process.execPath, [file, redis.url]));
  } finally {
    await redis.stop();
  }
}
