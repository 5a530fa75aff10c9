import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../examples/support/free-port.ts';
import { WEBKIT } from '../../scripts/webkit.ts';
import { callOf, type EngineBrowser, type Tab } from './engines.ts';

/** The key of an element's id (WebDriver, section "Elements"). */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** Sends a command of the WebDriver protocol (https://www.w3.org/TR/webdriver2/) and returns the value of its response. */
type Command = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<unknown>;

const commandsTo =
  (origin: string): Command =>
  async (method, path, body) => {
    const response = await fetch(`${origin}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
    const { value } = (await response.json()) as { value: { message?: string } };
    if (!response.ok) throw new Error(value.message);
    return value;
  };

/** State in the page of a call of {@link Tab.run}. */
interface Run {
  readonly isDone?: true;
  readonly error?: string;
  readonly value?: never;
}

/** Time for display, driver and browser to start. One that takes longer hangs, such as on a port that is taken meanwhile. */
const START_TIMEOUT_MS = 35_000;

/** Time for an element to appear. */
const ELEMENT_TIMEOUT_MS = 60_000;

/** Time for a function in a page to settle. */
const RUN_TIMEOUT_MS = 150_000;

/** Number of starts: together, they take less than a hook may. */
const STARTS = 3;

/** A browser that has started. */
interface Started {
  readonly command: Command;
  readonly sessionId: string;
  /** Ends driver and display. */
  stop(): Promise<void>;
}

/** Starts an X server without a screen, a driver and a browser; resolves with `undefined` if they hang. */
async function start(): Promise<Started | undefined> {
  const children: ChildProcess[] = [];
  const state = { isStopped: false };
  const run = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, ...env } });
    children.push(child);
    return child;
  };
  const stop = async (): Promise<void> => {
    state.isStopped = true;
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    }
  };
  const starting = async (): Promise<Started> => {
    const display = run(WEBKIT.display, ['-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp']);
    const [[number], port] = await Promise.all([once(display.stdout ?? display, 'data'), freePort()]);
    const driver = run(WEBKIT.driver, [`--port=${port}`], {
      DISPLAY: `:${String(number).trim()}`,
      // The sandbox of WebKit does not run as root, and its compositor needs a screen.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    });
    driver.stdout?.resume();
    const command = commandsTo(`http://127.0.0.1:${port}`);
    while (!state.isStopped && !(await command('GET', '/status').catch(() => undefined))) await setTimeout(20);
    const browserOptions = { binary: WEBKIT.browser, args: ['--automation'] };
    const timeouts = { implicit: ELEMENT_TIMEOUT_MS };
    const capabilities = {
      alwaysMatch: { 'webkitgtk:browserOptions': browserOptions, pageLoadStrategy: 'normal', timeouts },
    };
    const { sessionId } = (await command('POST', '/session', { capabilities })) as { sessionId: string };
    return { command, sessionId, stop };
  };
  const started = await Promise.race([
    starting().catch(() => undefined),
    setTimeout(START_TIMEOUT_MS, undefined, { ref: false }),
  ]);
  if (!started) await stop();
  return started;
}

/** Starts the browser of WebKitGTK, driven by WebDriver. */
export async function launch(): Promise<EngineBrowser> {
  let started: Started | undefined;
  for (let count = 0; count < STARTS && !started; count++) started = await start();
  if (!started) throw new Error(`WebKitGTK has not started in ${STARTS} times ${START_TIMEOUT_MS / 1_000} s.`);
  const { command, sessionId, stop } = started;
  const session = `/session/${sessionId}`;
  // Stays open, because every command needs a current window.
  const first = (await command('GET', `${session}/window`)) as string;

  // Commands apply to the current window: one tab at a time selects its own and uses it.
  let last: Promise<unknown> = Promise.resolve();
  const inTab = <T>(handle: string, work: () => Promise<T>): Promise<T> => {
    const result = last.then(async () => {
      await command('POST', `${session}/window`, { handle });
      return work();
    });
    last = result.catch(() => {});
    return result;
  };
  /** Returns the path of an element. */
  const find = async (selector: string): Promise<string> => {
    const element = await command('POST', `${session}/element`, { using: 'css selector', value: selector }).catch(
      (cause) => {
        throw new Error(`Waited ${ELEMENT_TIMEOUT_MS / 1_000} s for ${selector}: ${Object(cause).message}`, { cause });
      },
    );
    return `${session}/element/${(element as { [ELEMENT]: string })[ELEMENT]}`;
  };
  const execute = (script: string): Promise<unknown> =>
    command('POST', `${session}/execute/sync`, { script, args: [] });

  let next = 0;
  const tabOf = (handle: string): Tab => ({
    goto: (url) => inTab(handle, async () => void (await command('POST', `${session}/url`, { url }))),
    async run(work, ...args) {
      const slot = `window.__run${next++}`;
      // Started and then polled, so that tabs run at the same time.
      const start = `${slot} = {}; Promise.resolve().then(() => ${callOf(work, args)}).then(
        (value) => { ${slot} = { value: value === undefined ? null : value, isDone: true }; },
        (error) => { ${slot} = { error: String(error), isDone: true }; });`;
      await inTab(handle, () => execute(start));
      const end = performance.now() + RUN_TIMEOUT_MS;
      while (performance.now() < end) {
        const state = (await inTab(handle, () => execute(`return ${slot}`))) as Run | null;
        if (!state) throw new Error('The page was left.');
        if (state.error !== undefined) throw new Error(state.error);
        if (state.isDone) return state.value as never;
        await setTimeout(10);
      }
      throw new Error(`Waited ${RUN_TIMEOUT_MS / 1_000} s in a tab of WebKit for ${work}`);
    },
    click: (selector) => inTab(handle, async () => void (await command('POST', `${await find(selector)}/click`, {}))),
    setFile: (selector, path) =>
      inTab(handle, async () => void (await command('POST', `${await find(selector)}/value`, { text: path }))),
    back: () => inTab(handle, async () => void (await command('POST', `${session}/back`, {}))),
    close: () => inTab(handle, async () => void (await command('DELETE', `${session}/window`))),
  });
  return {
    // A window: the timers of a tab in the background would be slow.
    async newTab() {
      const opened = await inTab(first, () => command('POST', `${session}/window/new`, { type: 'window' }));
      const { handle } = opened as { handle: string };
      return tabOf(handle);
    },
    async close() {
      await command('DELETE', session).catch(() => {});
      await stop();
    },
  };
}
