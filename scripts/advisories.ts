/**
 * Asks the registry for advisories about the packages that are bundled into `dist`, which `npm audit` of a user does not
 * see. Fails if there are any. The registry is `npm_config_registry`, by default npm's.
 *
 *   npm run advisories
 */
import { readFileSync } from 'node:fs';
import { satisfies } from 'semver';

/** The parts of an advisory that this script reads. */
interface Advisory {
  readonly title: string;
  readonly url: string;
  readonly severity: string;
  readonly vulnerable_versions: string;
}

const registry = process.env.npm_config_registry ?? 'https://registry.npmjs.org/';
const { components }: { components: { name: string; version: string }[] } = JSON.parse(
  readFileSync('dist/sbom.cdx.json', 'utf8'),
);
const versions: Record<string, string[]> = {};
for (const { name, version } of components) versions[name] = [...(versions[name] ?? []), version];
const response = await fetch(new URL('-/npm/v1/security/advisories/bulk', registry.replace(/\/?$/, '/')), {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(versions),
});
if (!response.ok) throw new Error(`${response.url} responded with ${response.status}.`);
const advisories: Readonly<Record<string, readonly Advisory[]>> = JSON.parse(await response.text());

const findings = Object.entries(advisories).flatMap(([name, list]) =>
  list.flatMap(({ title, url, severity, vulnerable_versions }) =>
    (versions[name] ?? [])
      .filter((version) => satisfies(version, vulnerable_versions, { includePrerelease: true }))
      .map((version) => `${name} ${version}: ${title} (${severity}), ${url}`),
  ),
);
for (const line of findings) console.error(line);
console.log(`${components.length} bundled packages, ${findings.length} advisories`);
process.exitCode = findings.length > 0 ? 1 : 0;
