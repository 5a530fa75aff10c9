import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that let the package be passed on under its own, with their texts beside it. */
const ALLOWED: readonly unknown[] = ['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD'];

/** Licence texts, and the notices that Apache-2.0 asks to be passed on. */
const TEXTS = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** How a package's own build marks what it took in: `//#region ../node_modules/.pnpm/ajv@8.1.0/…`. */
const TAKEN_IN = /^\/\/#region \S*?node_modules\/(?:\.pnpm\/([^/\s]+)|((?:@[^/\s]+\/)?[^/\s]+))/gm;

/** Licences of what packages took in, as they carry none: the identifier in the first line, then the text. */
const KEPT = join('scripts', 'licences');

/** Something that is in `dist` and not ours. */
interface Bundled {
  readonly title: string;
  readonly licence: unknown;
  readonly text: string;
}

/**
 * What `dist` says of the packages bundled into it: name, version, licence and its text.
 *
 * @param inputs paths of the files that went into the bundles.
 * @throws when a licence is missing or not an allowed one.
 */
export function thirdPartyLicences(inputs: readonly string[], root = '.'): string {
  const foreign = inputs.filter((path) => packageFolder(path) !== undefined);
  const folders = new Set(foreign.map((path) => join(root, packageFolder(path) ?? '')));
  const takenIn = new Set(foreign.flatMap((path) => namesTakenIn(readFileSync(join(root, path), 'utf8'))));
  const all = [...[...folders].map(readPackage), ...[...takenIn].map((name) => readKept(root, name))];
  const problems = all.flatMap(problemsOf);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const entries = new Set(all.map(({ title, licence, text }) => `${title} (${String(licence)})\n\n${text}`));
  const rule = `\n\n${'-'.repeat(80)}\n\n`;
  return `${['Parts of these packages are in the files beside this one.', ...[...entries].sort()].join(rule)}\n`;
}

/** The folder of the package that a file belongs to, `node_modules/@hono/node-server`; none for our own. */
const packageFolder = (path: string): string | undefined =>
  /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path.replaceAll('\\', '/'))?.[0];

const namesTakenIn = (code: string): string[] =>
  [...code.matchAll(TAKEN_IN)].map(([, pinned, name = '']) => pinned ?? name);

function readPackage(folder: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => TEXTS.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return { title: `${name} ${version}`, licence: license, text: texts.join('\n\n') };
}

function readKept(root: string, name: string): Bundled {
  const path = join(root, KEPT, `${name.replaceAll('/', '+')}.txt`);
  const [licence, ...lines] = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const title = name.replace('+', '/').replace(/(?<=.)@/, ' ');
  return { title, licence, text: lines.join('\n').trim() };
}

function problemsOf({ title, licence, text }: Bundled): string[] {
  if (!ALLOWED.includes(licence)) return [`${title} is bundled; its licence is ${String(licence ?? 'not told')}.`];
  return text === '' ? [`${title} is bundled; the text of its licence is missing.`] : [];
}
