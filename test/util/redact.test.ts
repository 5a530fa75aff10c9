import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/util/redact.ts';

const TOKEN = 'canary|token-8f3a9c';

describe('a redactor', () => {
  it('removes a secret that the length limit would split', () => {
    const redactor = new Redactor();
    redactor.addSecret(TOKEN);
    for (let before = 2_000; before < 2_100; before++) {
      const shown = redactor.body(`${'x'.repeat(before)}${TOKEN}${'y'.repeat(5_000)}`);
      expect(shown).not.toMatch(/canary|token|8f3/);
      expect(shown.length).toBeLessThan(2_100);
    }
  });

  it('removes a secret that is longer than the length limit', () => {
    const redactor = new Redactor().with(['z'.repeat(3_000)]);
    for (let before = 0; before < 6_000; before += 97) {
      expect(redactor.body(`${'x'.repeat(before)}${'z'.repeat(3_000)}${'y'.repeat(9_000)}`)).not.toContain('z');
    }
  });

  it('keeps the secrets of its owner, however many come and go', () => {
    const redactor = new Redactor();
    redactor.addSecret(TOKEN);
    for (let at = 0; at < 1_000; at++) {
      redactor.addRecent(`recent-${at}`);
      redactor.with([`of-a-call-${at}`]);
    }
    expect(redactor.text(`${TOKEN} recent-999 recent-981 recent-3`)).toBe('[redacted] [redacted] [redacted] recent-3');
  });

  it('knows the secrets of a call beside those of its owner, later ones included', () => {
    const owner = new Redactor();
    const call = owner.with(['of-the-call']);
    owner.addSecret(TOKEN);
    expect(call.text(`${TOKEN} of-the-call`)).toBe('[redacted] [redacted]');
    expect(owner.text('of-the-call')).toBe('of-the-call');
  });

  it.each([
    ['https://u:p@h.example/p?X-Sig=abc rest', 'https://[redacted]@h.example/p?[redacted] rest'],
    ['{"url":"https:\\/\\/h.example\\/p?a=1\\u0026b=2"}', '{"url":"https:\\/\\/h.example\\/p?[redacted]"}'],
    [
      '{\\"url\\":\\"https://h.example/p?a=1\\",\\"b\\":2}',
      '{\\"url\\":\\"https://h.example/p?[redacted]\\",\\"b\\":2}',
    ],
    ['http://http://h/?a', 'http://http://h/?[redacted]'],
    ['Bearer abc.def, x', 'Bearer [redacted], x'],
    ['{"access_token":"a\\"b","x":1}', '{"access_token":"[redacted]","x":1}'],
    ['{"token":"cut in the mid', '{"token":"[redacted]"'],
  ])('removes what is named as a secret: %s', (text, shown) => {
    expect(new Redactor().text(text)).toBe(shown);
  });

  describe('a secret that is escaped', () => {
    const secret = '17|Ab/cd&"é\\x <ß😀+1';
    const percent = (text: string): string => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase());
    const hex = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0');
    const php = (text: string): string =>
      JSON.stringify(text)
        .slice(1, -1)
        .replaceAll('/', '\\/')
        .replace(/[^ -~]/g, (unit) => `\\u${hex(unit)}`);
    const html = (text: string): string =>
      text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
    const forms: Readonly<Record<string, string>> = {
      'as PHP does': php(secret),
      'as PHP does, within a JSON string': php(php(secret)),
      'with each character as \\u': secret.replace(/./gs, (unit) => `\\u${hex(unit).toUpperCase()}`),
      'in a URL': encodeURIComponent(secret),
      'in a URL, in lower case': percent(secret),
      'in a URL within a URL': percent(percent(secret)),
      'in a form': new URLSearchParams({ secret }).toString().slice('secret='.length),
      'in HTML': html(secret),
      'in HTML, by numbers': secret.replace(/./gsu, (character) => `&#${character.codePointAt(0)};`),
      'in HTML, by hexadecimal numbers': secret.replace(/./gsu, (one) => `&#x${one.codePointAt(0)?.toString(16)};`),
      'in HTML, twice': html(html(secret)),
      'in a URL in JSON in HTML': html(php(percent(secret))),
    };

    it.each(Object.entries(forms))('%s is removed, and the rest is kept', (_, form) => {
      const redactor = new Redactor().with([secret]);
      const [before, after] = ['{"a":"\\/b%2F&amp;', '\\"}&quot;%3d'];
      expect(redactor.text(`${before}${form}${after}${form}`)).toBe(`${before}[redacted]${after}[redacted]`);
    });

    it('is removed wherever the string is cut', () => {
      const redactor = new Redactor().with(['p\u00e4ss/word']);
      for (let before = 2_000; before < 2_060; before++) {
        const shown = redactor.body(`${'x'.repeat(before)}p\\u00e4ss\\/word${'y'.repeat(5_000)}`);
        expect(shown).not.toMatch(/p\\|00e4|ss|word/);
      }
    });

    it.each([
      ['https:\\\\\\/\\\\\\/h.example\\\\\\/p?X-Sig=SIG', 'within JSON'],
      ['https:\\u002F\\u002Fh.example\\u002Fp?X-Sig=SIG', 'by \\u'],
      ['next=https%3A%2F%2Fh.example%2Fp%3FX-Sig%3DSIG', 'in a query'],
      ['https:&#x2F;&#x2F;h.example/p?X-Sig=SIG', 'in HTML'],
      ["https://h.example/p?a='q'&X-Sig=SIG", 'after an apostrophe'],
      ['https://h.example/p#access_token=SIG', 'in a fragment'],
      ['{\\"access_token\\":\\"SIG\\"}', 'of a field within JSON'],
      ['Bearer%20SIG-and-more', 'of a header in a URL'],
    ])('is removed with the query, or as a named value: %s', (text) => {
      expect(new Redactor().text(text)).not.toContain('SIG');
    });

    it('is removed entirely where another secret is a part of it or overlaps it', () => {
      const redactor = new Redactor().with(['pass', 'hunter+pass/99', 'abcdefgh', 'efghijkl']);
      expect(redactor.text('hunter%2Bpass%2F99')).toBe('[redacted]');
      expect(redactor.text('abcdefghijkl')).toBe('[redacted]');
    });

    it('is found among bytes that are not UTF-8', () => {
      const secret = 'u9aX&_-a%a0é%>9';
      expect(new Redactor().with([secret]).text(encodeURIComponent(secret))).toBe('[redacted]');
      expect(new Redactor().with(['secret']).text('%ff%fe%73ecret%c3')).not.toContain('ecret');
    });
  });

  it('leaves headers valid', () => {
    const headers = new Headers({ 'x-long': 'x'.repeat(20_000) });
    expect(new Redactor().headers(headers).get('x-long')).toMatch(/^x+\.\.\. \(cut\)$/);
  });
});

describe('a resource in an error', () => {
  it('has no presigned query, at any depth', () => {
    const uri = 'https://u:p@s.example/f?X-Sig=canary';
    const resource = { id: 1, datastreams: [{ name: 'a', results: { uri } }], more: [[uri]] };
    expect(new Redactor().resource(resource)).toEqual({
      id: 1,
      datastreams: [{ name: 'a', results: { uri: 'https://[redacted]@s.example/f?[redacted]' } }],
      more: [['https://[redacted]@s.example/f?[redacted]']],
    });
    expect(resource.datastreams[0]?.results.uri).toBe(uri);
  });

  it('has no secret of the client, and a bounded size', () => {
    const redactor = new Redactor();
    redactor.addSecret(TOKEN);
    const resource = {
      name: `of ${TOKEN}`,
      long: `http://${'a'.repeat(9e6)}`,
      many: Array.from({ length: 1e5 }, () => ({})),
    };
    const shown = JSON.stringify(redactor.resource(resource));
    expect(shown).toContain('of [redacted]');
    expect(shown.length).toBeLessThan(20_000);
  });

  it('may be nested at any depth', () => {
    let deep: unknown = 'https://s.example/?canary';
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    expect(JSON.stringify(new Redactor().resource({ id: 1, deep }))).not.toContain('canary');
  });
});
