import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that permit redistribution in this package if their texts are included. */
const ALLOWED: readonly string[] = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];

/** Names of files with licence texts, or with the notices that Apache-2.0 requires. */
const TEXTS = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** Comments that name what another package has bundled: `//#region ../node_modules/.pnpm/ajv@8.1.0/…`. */
const NESTED = /^\/\/#region \S*?node_modules\/(?:\.pnpm\/([^/\s]+)|((?:@[^/\s]+\/)?[^/\s]+))/gm;

/**
 * Folder with the licences of packages that other packages have bundled: identifier in the first line, then the text.
 */
const NESTED_LICENCES = join('scripts', 'licences');

/** A package that is bundled into `dist`. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  /** Text of the licence. */
  readonly text: string;
}

/**
 * Returns the packages that are bundled into `dist`, and the packages that these have bundled, sorted by name.
 *
 * @param inputs Paths of the bundled files.
 * @throws {Error} if a licence is missing or not allowed.
 */
export function bundledPackages(inputs: readonly string[], root = '.'): BundledPackage[] {
  const foreign = inputs.filter((path) => packageFolder(path) !== undefined);
  const folders = new Set(foreign.map((path) => join(root, packageFolder(path) ?? '')));
  const nested = new Set(foreign.flatMap((path) => nestedPackages(readFileSync(join(root, path), 'utf8'))));
  const all = [...[...folders].map(readPackage), ...[...nested].map((name) => readNested(root, name))];
  const problems = all.flatMap(problemsOf);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  // One package may be installed in several folders.
  const byTitle = new Map(all.map((one) => [titleOf(one), one] as const));
  return [...byTitle].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Returns title (name and version), licence and licence text of each package. */
export function licenceTexts(packages: readonly BundledPackage[]): string {
  const entries = packages.map((one) => `${titleOf(one)} (${one.licence})\n\n${one.text}`);
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return `${['The files of this folder contain parts of these packages.', ...entries].join(rule)}\n`;
}

const titleOf = ({ name, version }: BundledPackage): string => `${name} ${version}`;

/** Returns the folder of the package that a file belongs to, such as `node_modules/@hono/node-server`. */
const packageFolder = (path: string): string | undefined =>
  /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.replaceAll('\\', '/'))?.[0];

const nestedPackages = (code: string): string[] =>
  [...code.matchAll(NESTED)].map(([, pinned, name = '']) => pinned ?? name);

function readPackage(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => TEXTS.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { name, version, licence: String(license ?? 'unknown'), text: texts.join('\n\n') };
}

/** Reads a package by its identifier, such as `@scope+name@1.2.3`. */
function readNested(root: string, identifier: string): BundledPackage {
  const path = join(root, NESTED_LICENCES, `${identifier.replaceAll('/', '+')}.txt`);
  const [licence = '', ...lines] = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : ['unknown'];
  const [, name = '', version = ''] = /^(.+?)(?:@([^@]+))?$/.exec(identifier.replace('+', '/')) ?? [];
  return { name, version, licence, text: lines.join('\n').trim() };
}

function problemsOf(one: BundledPackage): string[] {
  const { licence, text } = one;
  const title = titleOf(one);
  if (!ALLOWED.includes(licence)) return [`${title} is bundled; its licence is ${licence}.`];
  return text === '' ? [`${title} is bundled; the text of its licence is missing.`] : [];
}
