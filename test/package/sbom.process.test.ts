import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { startServer } from '../support/server.ts';

const bom: { components: { name: string; version: string; purl: string }[] } = JSON.parse(
  readFileSync('dist/sbom.cdx.json', 'utf8'),
);
const versionOf = (name: string): string => bom.components.find((one) => one.name === name)?.version ?? 'missing';

describe('the SBOM', () => {
  it('is valid CycloneDX 1.6', () => {
    const ajv = new Ajv({ strict: false, allErrors: true });
    addFormats.default(ajv);
    ajv.addFormat('iri-reference', true).addFormat('idn-email', true);
    const schema = (file: string): object =>
      JSON.parse(readFileSync(join('node_modules/@cyclonedx/cyclonedx-library/res/schema', file), 'utf8'));
    // The schema refers to the others by their file names.
    for (const file of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json']) {
      ajv.addSchema({ ...schema(file), $id: `http://cyclonedx.org/schema/${file}` });
    }
    const validate = ajv.compile(schema('bom-1.6.SNAPSHOT.schema.json'));
    expect(validate(bom), ajv.errorsText(validate.errors)).toBe(true);
  });

  it('lists the packages whose licences are shipped, those that others have bundled included', () => {
    const texts = readFileSync('dist/THIRD-PARTY-LICENSES.txt', 'utf8');
    const titles = [...texts.matchAll(/^-{80}\n\n(.+) \(\S+\)$/gm)].map(([, title]) => title);
    expect(bom.components.map(({ name, version }) => `${name} ${version}`)).toEqual(titles);
    expect(bom.components.map(({ purl }) => purl)).toEqual(
      expect.arrayContaining([
        `pkg:npm/zod@${versionOf('zod')}`,
        `pkg:npm/%40hono/node-server@${versionOf('@hono/node-server')}`,
        'pkg:npm/%40cfworker/json-schema@4.1.1',
        'pkg:npm/content-type@1.0.5',
      ]),
    );
  });
});

describe('the check for advisories', () => {
  const advisory = {
    title: 'It accepts everything',
    url: 'https://github.com/advisories/GHSA-xxxx',
    severity: 'high',
    vulnerable_versions: '<99',
  };
  const check = (registry: string) =>
    promisify(execFile)(process.execPath, ['scripts/advisories.ts'], {
      env: { PATH: process.env.PATH, npm_config_registry: registry },
    });

  it('asks for every bundled version, and passes without an advisory', async () => {
    const server = await startServer([{ text: '{}' }]);
    const { stdout } = await check(`${server.url}/npm`);
    expect(stdout).toBe(`${bom.components.length} bundled packages, 0 advisories\n`);
    const [request] = await server.seen();
    expect(request).toMatchObject({ method: 'POST', url: '/npm/-/npm/v1/security/advisories/bulk' });
    const asked = Object.entries<string[]>(JSON.parse(request?.body ?? '')).flatMap(([name, versions]) =>
      versions.map((version) => `${name} ${version}`),
    );
    expect(asked.sort()).toEqual(bom.components.map(({ name, version }) => `${name} ${version}`).sort());
  });

  it('fails with the package, its version, and the title and the address of the advisory', async () => {
    const fixed = { ...advisory, vulnerable_versions: '<0.1.0' };
    const server = await startServer([{ text: JSON.stringify({ zod: [advisory], hono: [fixed] }) }]);
    await expect(check(server.url)).rejects.toMatchObject({
      code: 1,
      stderr: `zod ${versionOf('zod')}: It accepts everything (high), https://github.com/advisories/GHSA-xxxx\n`,
    });
  });

  it.each([
    ['an error', { status: 503, text: '{}' }, '503'],
    ['something else than advisories', { text: '{"status":"success"}' }, 'TypeError'],
  ])('fails if the registry responds with %s', async (_, step, stderr) => {
    const server = await startServer([step]);
    await expect(check(server.url)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining(stderr) });
  });
});
