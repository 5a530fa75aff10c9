/** A string without escapes, with the positions of its characters in the original. */
export interface Unescaped {
  readonly text: string;
  /**
   * For each UTF-16 code unit of `text`, the index in the original at which it begins. The last element is the end of the
   * original.
   */
  readonly starts: readonly number[];
}

/** Matches escapes of JSON, URLs and HTML. Each level of nesting may double a backslash, or replace `%` with `%25`. */
const ESCAPE =
  /\\+u(?<unit>[\da-f]{4})|(?<bytes>(?:%(?:25)*[\da-f]{2})+)|&(?:amp;)*(?:#(?<decimal>\d{1,7})|#x(?<hex>[\da-f]{1,6})|(?<name>amp|lt|gt|quot|apos));|\\+(?<escaped>[^\\]?)|[\b\f\n\r\t+]/gi;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Characters that have a short escape, by the character that remains after removing the backslash. In a URL, a space
 * may be a plus sign.
 */
const SHORT: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '+': ' ' };

/** Maximum number of passes that remove escapes, because escapes can be nested. */
const MAX_NESTING = 5;

/** Returns a string without escapes of any kind, so that two forms of a string become equal. */
export function withoutEscapes(original: string): Unescaped {
  let result: Unescaped = { text: original, starts: [...Array(original.length + 1).keys()] };
  for (let level = 0; level < MAX_NESTING; level++) {
    const { text, starts } = unescapeOnce(result.text);
    if (text === result.text) break;
    const earlier = result.starts;
    result = { text, starts: starts.map((start) => earlier[start] ?? original.length) };
  }
  return result;
}

function unescapeOnce(original: string): Unescaped {
  let text = '';
  const starts: number[] = [];
  const add = (part: string, from: number, step: number): void => {
    for (let at = 0; at < part.length; at++) starts.push(from + at * step);
    text += part;
  };
  let end = 0;
  for (const match of original.matchAll(ESCAPE)) {
    const { unit, bytes, decimal, hex, name, escaped } = match.groups ?? {};
    add(original.slice(end, match.index), end, 1);
    end = match.index + match[0].length;
    if (unit !== undefined) add(String.fromCharCode(Number.parseInt(unit, 16)), match.index, 0);
    else if (bytes !== undefined)
      for (const [character, at] of charactersOf(bytes)) add(character, match.index + at, 0);
    else if (name !== undefined) add(ENTITIES[name.toLowerCase()] ?? '', match.index, 0);
    else if (decimal ?? hex)
      add(characterOf(decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16)), match.index, 0);
    else add(escaped ?? SHORT[match[0]] ?? '', match.index, 0);
  }
  add(original.slice(end), end, 1);
  starts.push(original.length);
  return { text, starts };
}

const characterOf = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '');

/** Yields the characters of percent-encoded UTF-8 with their start indexes. Yields invalid bytes one by one. */
function* charactersOf(encoded: string): Generator<readonly [string, number]> {
  const escapes = [...encoded.matchAll(/%(?:25)*([\da-f]{2})/gi)];
  const bytes = Uint8Array.from(escapes, ([, digits = '']) => Number.parseInt(digits, 16));
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0;
    const length = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const character = decode(bytes.subarray(at, at + length));
    yield [character ?? String.fromCharCode(lead), escapes[at]?.index ?? 0];
    at += character === undefined ? 1 : length;
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
