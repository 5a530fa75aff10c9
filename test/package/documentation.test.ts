import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { allBlocks, anchorsOf, blocksOf, relativeLinks, SHIPPED } from '../support/documentation.ts';

/** Runs blocks in one process, in a project that has the built package; tells what went wrong with each. */
async function run(codes: readonly string[], patience: number): Promise<Map<number, string | null>> {
  const folder = mkdtempSync(join(tmpdir(), 'audience-activation-'));
  const problems = new Map<number, string | null>();
  writeFileSync(join(folder, 'blocks.json'), JSON.stringify(codes));
  const child = fork(new URL('../support/block-process.ts', import.meta.url), [folder, String(patience)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  child.on('message', (message: { at: number; problem: string | null }) => problems.set(message.at, message.problem));
  const [code] = await once(child, 'close');
  rmSync(folder, { recursive: true, force: true });
  if (code !== 0) throw new Error(`The process of the blocks ended with ${code}: ${told}`);
  return problems;
}

const blocks = allBlocks();
const runnable = blocks.filter(({ compiledOnly }) => compiledOnly === undefined);
const BROKEN = ["throw new Error('as it was meant to');", "void Promise.reject(new Error('left alone'));"];
const ENDLESS = 'await new Promise(() => setInterval(() => {}, 1_000));';

describe('code blocks of the README and the guides', () => {
  let problems: Map<number, string | null>;
  let ofBroken: Map<number, string | null>;
  beforeAll(async () => {
    const codes = runnable.map(({ code }) => code);
    [problems, ofBroken] = await Promise.all([run(codes, 20_000), run([...BROKEN, ENDLESS], 1_000)]);
  });

  it.each(runnable.map(({ file, heading }, at) => [at, file, heading] as const))(
    'run: %i, %s › %s',
    (at, file, heading) => {
      expect(problems.get(at), `${file}, below "${heading}"`).toBeNull();
    },
  );

  it('that fail are found, those of promises that are left alone and those without an end, too', () => {
    expect(ofBroken.get(0)).toContain('as it was meant to');
    expect(ofBroken.get(1)).toContain('left alone');
    expect(ofBroken.get(2)).toContain('It did not end');
  });

  it('are read with their heading, and with the reason why one is not run', () => {
    const text = '# A\n```sh\n# no heading\n```\n## B\n<!-- compiled only: why -->\n```ts\nx\n```\n```ts\ny\n```\n';
    expect(blocksOf('a.md', text)).toEqual([
      { file: 'a.md', heading: 'B', code: 'x', compiledOnly: 'why' },
      { file: 'a.md', heading: 'B', code: 'y', compiledOnly: undefined },
    ]);
    expect(runnable.length / blocks.length).toBeGreaterThan(0.9);
  });
});

describe('links', () => {
  const texts = ['CONTRIBUTING.md', 'SECURITY.md', ...SHIPPED, ...globSync('docs/decisions/*.md')];
  const linksOf = (file: string) =>
    relativeLinks(readFileSync(file, 'utf8')).map((target) => {
      const [path = '', anchor] = target.split('#');
      return { target, path: path === '' ? file : posix.join(dirname(file), path), anchor };
    });

  it.each(texts)('of %s lead somewhere', (file) => {
    const lost = linksOf(file).filter(({ path, anchor }) => {
      if (!existsSync(path)) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(path, 'utf8')).has(anchor);
    });
    expect(lost.map(({ target }) => target)).toEqual([]);
  });

  it.each(SHIPPED)('of %s stay in the package', (file) => {
    expect(linksOf(file).flatMap(({ path }) => (SHIPPED.includes(path) ? [] : [path]))).toEqual([]);
  });

  it('go by the anchors that headings have', () => {
    const text =
      '# One & two: `three`\n## A\n## A\n```sh\n# none\n```\n[x](#a-1) `[y](z)` [w](https://example.com) [v](b.md#c)';
    expect([...anchorsOf(text)]).toEqual(['one--two-three', 'a', 'a-1']);
    expect(relativeLinks(text)).toEqual(['#a-1', 'b.md#c']);
  });
});
