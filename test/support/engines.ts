import { existsSync } from 'node:fs';
import { CHROMIUM } from '../../scripts/chromium.ts';
import { FIREFOX } from '../../scripts/firefox.ts';
import { WEBKIT } from '../../scripts/webkit.ts';

/** A tab of a browser, in its own process. */
export interface Tab {
  /** Opens an address; resolves when the page has loaded. */
  goto(url: string): Promise<void>;
  /**
   * Calls a function in the page and resolves with what it returns or resolves with. The function is sent as text: it
   * must not use variables from outside. Arguments and result are JSON.
   */
  run<A extends readonly unknown[], R>(work: (...args: A) => R, ...args: A): Promise<Awaited<R>>;
  /** Waits for an element, and clicks it as a user does, which permits what pages may do only then. */
  click(selector: string): Promise<void>;
  /** Selects a file of this machine in an `<input type="file">`. */
  setFile(selector: string, path: string): Promise<void>;
  /** Goes back to the page before. */
  back(): Promise<void>;
  close(): Promise<void>;
}

/** A running browser with an empty profile. Its tabs share cookies and storage. */
export interface EngineBrowser {
  newTab(): Promise<Tab>;
  close(): Promise<void>;
}

/** A browser engine. */
export interface Engine {
  readonly name: 'chromium' | 'firefox' | 'webkit';
  /** Programs that it consists of. */
  readonly programs: readonly string[];
  /** Starts a browser. Its driver is loaded only then. */
  launch(): Promise<EngineBrowser>;
}

const ALL: readonly Engine[] = [
  {
    name: 'chromium',
    programs: [CHROMIUM.executablePath],
    launch: async () => (await import('./chromium-tabs.ts')).launch(),
  },
  { name: 'firefox', programs: [FIREFOX], launch: async () => (await import('./firefox-tabs.ts')).launch() },
  {
    name: 'webkit',
    programs: Object.values(WEBKIT),
    launch: async () => (await import('./webkit-tabs.ts')).launch(),
  },
];

const isInstalled = ({ programs }: Engine): boolean => programs.every((program) => existsSync(program));

/** The engines of this machine, in which tests run. In CI, none may be missing. */
export const ENGINES: readonly Engine[] = process.env.CI === 'true' ? ALL : ALL.filter(isInstalled);

/** The engines that this machine lacks, whose tests are named and not run. */
export const MISSING_ENGINES: readonly Engine[] = ALL.filter((engine) => !ENGINES.includes(engine));

/** Returns the expression that calls a function in a page. */
export const callOf = (work: (...args: never) => unknown, args: readonly unknown[]): string =>
  `(${work})(...${JSON.stringify(args)})`;
