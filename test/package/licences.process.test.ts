import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundledPackages, licenceTexts } from '../../scripts/licences.ts';

describe('the licences of bundled packages', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'licences-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const install = (name: string, license: unknown, files: Record<string, string>, code = ''): string => {
    const folder = `node_modules/${name}`;
    write(`${folder}/package.json`, JSON.stringify({ name, version: '1.2.3', license }));
    for (const [file, text] of Object.entries(files)) write(`${folder}/${file}`, text);
    write(`${folder}/dist/index.js`, code);
    return `${folder}/dist/index.js`;
  };

  it('lists each bundled package once with its licence text, and no file of this package', () => {
    const inputs = [
      install('plain', 'MIT', { LICENSE: 'Text of plain\n' }),
      install('@scope/noted', 'Apache-2.0', { 'LICENSE.md': 'Text of noted', NOTICE: 'Notice of noted' }),
      'node_modules/plain/package.json',
      'src/index.ts',
    ];
    const rule = `\n\n${'-'.repeat(80)}\n\n`;
    expect(licenceTexts(bundledPackages(inputs, root)).split(rule)).toEqual([
      'The files of this folder contain parts of these packages.',
      '@scope/noted 1.2.3 (Apache-2.0)\n\nText of noted\n\nNotice of noted',
      'plain 1.2.3 (MIT)\n\nText of plain\n',
    ]);
  });

  it('refuses missing and forbidden licences and missing texts, all in one error', () => {
    const inputs = [
      install('copyleft', 'GPL-3.0-only', { LICENSE: 'x' }),
      install('silent', undefined, { LICENSE: 'x' }),
      install('bare', 'MIT', {}),
    ];
    const problems = [
      'copyleft 1.2.3 is bundled; its licence is GPL-3.0-only.',
      'silent 1.2.3 is bundled; its licence is unknown.',
      'bare 1.2.3 is bundled; the text of its licence is missing.',
    ];
    expect(() => bundledPackages(inputs, root)).toThrow(problems.join('\n'));
  });

  it('requires the licence of a package that another package has bundled', () => {
    const code =
      '//#region ../node_modules/.pnpm/@in+side@4.1.1/node_modules/@in/side/index.js\nlet a;\n//#endregion\n';
    const inputs = [install('outer', 'MIT', { LICENCE: 'Text of outer' }, code)];
    expect(() => bundledPackages(inputs, root)).toThrow('@in/side 4.1.1 is bundled; its licence is unknown.');
    write('scripts/licences/@in+side@4.1.1.txt', 'ISC\n\nText of inside\n');
    expect(bundledPackages(inputs, root)).toContainEqual({
      name: '@in/side',
      version: '4.1.1',
      licence: 'ISC',
      text: 'Text of inside',
    });
  });
});
