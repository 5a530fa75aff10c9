import { globSync } from 'node:fs';

/** Programs that tests of WebKitGTK start: its WebDriver, its browser, and an X server without a screen. */
export const WEBKIT = {
  driver: process.env.WEBKIT_DRIVER_PATH ?? '/usr/bin/WebKitWebDriver',
  browser:
    process.env.WEBKIT_BROWSER_PATH ?? globSync('/usr/lib/*/webkit2gtk-4.1/MiniBrowser')[0] ?? '/usr/bin/MiniBrowser',
  display: process.env.XVFB_PATH ?? '/usr/bin/Xvfb',
};
