import { createHash } from 'node:crypto';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright';
import { CHROMIUM } from './chromium.ts';
import { run } from './run.ts';

/**
 * Draws the diagrams of `docs/images` from their Mermaid sources, each in light and in dark.
 *
 *   npm run diagrams
 *
 * Mermaid is installed for this run only, because it is large and rarely used.
 */
const VERSION = '11.17.2';
const FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** Colors of a diagram: its background, text, lines, boxes, and notes. */
const THEMES = {
  '': { background: '#ffffff', text: '#1f2328', line: '#59636e', box: '#eaf2ff', border: '#6c8ebf', note: '#fff8e1' },
  '-dark': {
    background: '#0d1117',
    text: '#e6edf3',
    line: '#9198a1',
    box: '#1c2b45',
    border: '#5b82b8',
    note: '#3a3218',
  },
} as const;

/** The part of Mermaid's API that is used here. */
interface Mermaid {
  initialize(config: object): void;
  render(id: string, source: string): Promise<{ readonly svg: string }>;
}

/** Returns the configuration of Mermaid for a theme. Labels are SVG text: images cannot contain HTML everywhere. */
function configOf({ background, text, line, box, border, note }: (typeof THEMES)[keyof typeof THEMES]): object {
  const themeVariables = {
    background,
    primaryColor: box,
    primaryBorderColor: border,
    primaryTextColor: text,
    textColor: text,
    titleColor: text,
    lineColor: line,
    secondaryColor: background,
    tertiaryColor: background,
    clusterBkg: background,
    clusterBorder: line,
    edgeLabelBackground: background,
    labelBackgroundColor: background,
    transitionLabelColor: text,
    actorBkg: box,
    actorBorder: border,
    actorTextColor: text,
    signalColor: line,
    signalTextColor: text,
    labelBoxBkgColor: background,
    labelBoxBorderColor: line,
    labelTextColor: text,
    loopTextColor: text,
    noteBkgColor: note,
    noteBorderColor: line,
    noteTextColor: text,
    fontFamily: FONT,
    fontSize: '15px',
  };
  const flowchart = { htmlLabels: false, wrappingWidth: 400, padding: 12 };
  return { startOnLoad: false, htmlLabels: false, flowchart, theme: 'base', themeVariables };
}

/** Removes what no image needs: attributes for scripts, and digits after the first decimal place. */
const shorten = (svg: string): string =>
  svg
    .replaceAll(/ data-[a-z-]+="[^"]*"/g, '')
    .replaceAll(/\d+\.\d{2,}/g, (number) => String(Math.round(Number(number) * 10) / 10));

/** Draws all diagrams with the Mermaid of a folder. */
async function drawAll(folder: string, browser: Browser): Promise<void> {
  const page = await browser.newPage();
  await page.addScriptTag({ path: join(folder, 'node_modules/mermaid/dist/mermaid.min.js') });
  for (const path of globSync('docs/images/*.mmd').sort()) {
    const source = readFileSync(path, 'utf8');
    for (const [suffix, theme] of Object.entries(THEMES)) {
      const svg = await page.evaluate(
        async ([text, config, background]) => {
          const { mermaid } = globalThis as unknown as { mermaid: Mermaid };
          mermaid.initialize(config);
          const container = document.createElement('div');
          container.innerHTML = (await mermaid.render('diagram', text)).svg;
          const image = container.querySelector('svg');
          image?.setAttribute('style', `background: ${background}`);
          const [, , width, height] = image?.getAttribute('viewBox')?.split(' ') ?? [];
          image?.setAttribute('width', String(Math.ceil(Number(width))));
          image?.setAttribute('height', String(Math.ceil(Number(height))));
          return image ? new XMLSerializer().serializeToString(image) : '';
        },
        [source, configOf(theme), theme.background] as const,
      );
      const digest = createHash('sha256').update(source).digest('hex');
      writeFileSync(path.replace('.mmd', `${suffix}.svg`), `${shorten(svg)}\n<!-- source: sha256 ${digest} -->\n`);
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'diagrams-'));
try {
  run('npm', 'install', '--prefix', folder, '--no-audit', '--no-fund', '--silent', `mermaid@${VERSION}`);
  const browser = await chromium.launch(CHROMIUM);
  await drawAll(folder, browser).finally(() => browser.close());
} finally {
  rmSync(folder, { recursive: true });
}
