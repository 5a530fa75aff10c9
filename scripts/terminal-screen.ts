/** Stands for the escape character, which regular expressions should not contain. */
const ESCAPE = '␛';

const HTML = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const;

/** Styles of the codes that the command uses. */
const STYLES: Readonly<Record<string, string>> = {
  '1': 'font-weight:bold',
  '2': 'opacity:.65',
  '31': 'color:#ff7b72',
  '32': 'color:#7ee787',
  '33': 'color:#e3b341',
  '36': 'color:#79c0ff',
};

/** Returns what a terminal shows after it was sent a text, as HTML. Knows colours, and erasing lines above the cursor. */
export function screenOf(text: string): string {
  const lines = [''];
  for (const [part = ''] of text
    .replaceAll('\r\n', '\n')
    .replaceAll('\u001b', ESCAPE)
    .matchAll(/␛\[[\d;?]*[A-Za-z]|\n|[^␛\n]+/g)) {
    const last = lines.length - 1;
    if (part === '\n') lines.push('');
    else if (part === '␛[2K') lines[last] = '';
    else if (part === '␛[1A') lines.pop();
    else if (part.endsWith('m')) lines[last] += part;
    else if (!part.startsWith(ESCAPE))
      lines[last] += part.replaceAll(/\r|[&<>]/g, (c) => HTML[c as keyof typeof HTML] ?? '');
  }
  return lines.map(styled).join('\n').trimEnd();
}

/** Returns a line with elements in place of the codes of colours. */
function styled(line: string): string {
  let open = 0;
  const html = line.replaceAll(/␛\[([\d;]*)m/g, (_, codes: string) => {
    const styles = codes.split(';').flatMap((code) => STYLES[code] ?? []);
    const closing = '</span>'.repeat(styles.length > 0 ? 0 : open);
    open = styles.length > 0 ? open + 1 : 0;
    return styles.length > 0 ? `<span style="${styles.join(';')}">` : closing;
  });
  return html + '</span>'.repeat(open);
}
