import { defineBrowserProvider } from '@vitest/browser';
import type { BrowserProviderOption } from 'vitest/node';
import { ENGINES, type EngineBrowser } from './engines.ts';

/** Runs browser tests of vitest in one of the engines. */
export const engineProvider = (name: string): BrowserProviderOption =>
  defineBrowserProvider({
    name: 'engine',
    providerFactory(project) {
      // The window keeps its size.
      project.browser?.registerCommand('__vitest_viewport' as never, (async () => {}) as never);
      let browser: Promise<EngineBrowser> | undefined;
      return {
        name: 'engine',
        supportsParallelism: false,
        getCommandsContext: () => ({}),
        async openPage(_session, url) {
          browser ??= ENGINES.find((engine) => engine.name === name)?.launch();
          const tab = await (await browser)?.newTab();
          await tab?.goto(url);
        },
        async close() {
          await (await browser)?.close();
          browser = undefined;
        },
      };
    },
  });
