import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { BUN, DENO, NODES, PEERS, TYPESCRIPTS, WORKERD } from '../../scripts/package/versions.ts';
import { BROWSERS } from '../../tsup.config.ts';
import {
  allBlocks,
  anchorsOf,
  blocksOf,
  relativeLinks,
  SHIPPED,
  tableAfter,
  withExpectations,
} from '../support/documentation.ts';

/** Runs blocks in one process, in a project with the built package; returns the problem of each, or `null`. */
async function run(codes: readonly string[], timeoutMs: number): Promise<Map<number, string | null>> {
  const folder = mkdtempSync(join(tmpdir(), 'audience-activation-'));
  const problems = new Map<number, string | null>();
  writeFileSync(join(folder, 'blocks.json'), JSON.stringify(codes));
  const child = fork(new URL('./block-process.ts', import.meta.url), [folder, String(timeoutMs)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.on('message', (message: { at: number; problem: string | null }) => problems.set(message.at, message.problem));
  const [code] = await once(child, 'close');
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0) throw new Error(`The process of the blocks ended with ${code}: ${stderr}`);
  return problems;
}

const blocks = allBlocks();
const runnable = blocks.filter(({ compiledOnly }) => compiledOnly === undefined);
const BROKEN = [
  "throw new Error('thrown on purpose');",
  "void Promise.reject(new Error('never awaited'));",
  'console.log(1 + 1); // 3',
  'for (const one of []) {\n  console.log(one); // 1\n}',
];
const ENDLESS = 'await new Promise(() => setInterval(() => {}, 1_000));';

describe('code blocks of the README and the guides', () => {
  let problems: Map<number, string | null>;
  let problemsOfBroken: Map<number, string | null>;
  beforeAll(async () => {
    const codes = runnable.map(({ code }) => code);
    // Hundreds of blocks, one after the other.
    [problems, problemsOfBroken] = await Promise.all([run(codes, 60_000), run([...BROKEN, ENDLESS], 5_000)]);
  });

  it.each(runnable.map(({ file, heading }, at) => [at, file, heading] as const))(
    'run without an error: %i, %s › %s',
    (at, file, heading) => {
      expect(problems.get(at), `${file}, below "${heading}"`).toBeNull();
    },
  );

  it('are reported if they throw, leave a rejection unhandled, print something else than they say, or do not end', () => {
    expect(problemsOfBroken.get(0)).toContain('thrown on purpose');
    expect(problemsOfBroken.get(1)).toContain('never awaited');
    expect(problemsOfBroken.get(2)).toContain('It prints "2", and its comment says "3"');
    expect(problemsOfBroken.get(3)).toContain('It does not print 1');
    expect(problemsOfBroken.get(4)).toContain('It did not end');
  });

  it('do not hide a variable that is not set behind an empty text', () => {
    expect(blocks.filter(({ code }) => /process\.env\.\w+ \?\? ''/.test(code))).toEqual([]);
  });

  it('print what their comments say', () => {
    const code =
      "console.log(code); // 'a-b'\n  console.log(x, y); // 1 true: a reason\nconsole.log(z); // known before";
    expect(withExpectations(code)).toEqual({
      code: 'expectPrinted("a-b", code);\n  expectPrinted("1 true", x, y);\nconsole.log(z); // known before',
      texts: ['a-b', '1 true'],
    });
    expect(runnable.flatMap((block) => withExpectations(block.code).texts).length).toBeGreaterThan(10);
  });

  it('are read with their heading, and with the reason not to run one', () => {
    const text = '# A\n```sh\n# no heading\n```\n## B\n<!-- compiled only: why -->\n```ts\nx\n```\n```ts\ny\n```\n';
    expect(blocksOf('a.md', text)).toEqual([
      { file: 'a.md', heading: 'B', code: 'x', compiledOnly: 'why' },
      { file: 'a.md', heading: 'B', code: 'y', compiledOnly: undefined },
    ]);
    expect(runnable.length / blocks.length).toBeGreaterThan(0.88);
  });
});

describe('links', () => {
  const texts = ['CONTRIBUTING.md', 'SECURITY.md', ...SHIPPED, ...globSync('docs/{contributing,decisions}/*.md')];
  const linksOf = (file: string) =>
    relativeLinks(readFileSync(file, 'utf8')).map((target) => {
      const [path = '', anchor] = target.split('#');
      return { target, path: path === '' ? file : posix.join(dirname(file), path), anchor };
    });

  it.each(texts)('links of %s have a target', (file) => {
    const broken = linksOf(file).filter(({ path, anchor }) => {
      if (!existsSync(path)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(path, 'utf8')).has(anchor);
    });
    expect(broken.map(({ target }) => target)).toEqual([]);
  });

  it.each(SHIPPED)('links of %s stay in the package', (file) => {
    expect(
      linksOf(file).flatMap(({ path }) => (SHIPPED.includes(path) || path.startsWith('docs/images/') ? [] : [path])),
    ).toEqual([]);
  });

  it('use the anchors of headings', () => {
    const text =
      '# One & two: `three`\n## A\n## A\n```sh\n# none\n```\n[x](#a-1) `[y](z)` [w](https://example.com) [v](b.md#c)';
    expect([...anchorsOf(text)]).toEqual(['one--two-three', 'a', 'a-1']);
    expect(relativeLinks(text)).toEqual(['#a-1', 'b.md#c']);
  });
});

describe('the table of supported versions', () => {
  const rows = tableAfter('## Supported versions', readFileSync('docs/support.md', 'utf8'));
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const versionsOf = (peer: string): string =>
    Object.values<Readonly<Record<string, string>>>(PEERS)
      .map(({ [peer]: version }) => version)
      .join(', ');
  const tested: readonly [name: string, versions: string][] = [
    ['Node', NODES.join(', ')],
    ['Bun, Deno, workers', `Bun ${BUN}, Deno ${DENO}, workerd ${WORKERD}`],
    ['TypeScript', TYPESCRIPTS.join(', ')],
    ...Object.keys(peerDependencies).map((peer): [string, string] => [`\`${peer}\``, versionsOf(peer)]),
  ];

  it.each(tested)('has the versions that are tested: %s', (name, versions) => {
    expect(rows.find(([first = '']) => first.startsWith(name))?.[2]).toBe(versions);
  });
});

it('the guides name the oldest browsers that the build targets', () => {
  const { chrome, firefox, safari } = BROWSERS;
  const versions = `Chrome and Edge ${chrome}, Firefox ${firefox}, Safari ${safari}`;
  for (const file of ['docs/support.md', 'docs/browsers.md']) expect(readFileSync(file, 'utf8')).toContain(versions);
});

describe('the comparison with other SDKs', () => {
  const benchmarks = readFileSync('docs/benchmarks.md', 'utf8');
  const comparison = readFileSync('docs/comparison.md', 'utf8');
  const [[, ...clients] = [], ...rows] = tableAfter('## Figures', comparison);
  const sources = [
    { label: 'browser bundle', marker: '## Size in a browser', column: 1 },
    { label: 'first response', marker: '| First response', column: 2 },
    {
      label: 'CPU per call, relative to bare `fetch`: one after the other',
      marker: '| One after the other',
      column: 2,
    },
    { label: 'CPU per call, relative to bare `fetch`: 16 at a time', marker: '| 16 at a time', column: 2 },
  ];

  it.each(sources)('has the figures of docs/benchmarks.md: $label', ({ label, marker, column }) => {
    const [, ...figures] = rows.find(([name = '']) => name.startsWith(label)) ?? [];
    const measured = tableAfter(marker, benchmarks);
    expect(clients.length).toBeGreaterThan(3);
    const medians = clients.map((client) => measured.find(([name = '']) => name.startsWith(client))?.[column]);
    // Without the range in brackets.
    expect(figures).toEqual(medians.map((median) => median?.split(' ')[0]));
  });

  it('has no other figures', () => {
    expect(rows).toHaveLength(sources.length);
  });

  it.each([
    ['README.md', '## Do you need it?'],
    ['docs/comparison.md', '## With a generated client'],
  ])('the size in %s is the measured one', (file, marker) => {
    const [, measured] = tableAfter('## Size in a browser', benchmarks).find(([name]) => name === clients[0]) ?? [];
    const row = tableAfter(marker, readFileSync(file, 'utf8')).find(([name = '']) => name.startsWith('size in a page'));
    expect(row?.[1]).toBe(`${measured} KiB`);
  });
});
