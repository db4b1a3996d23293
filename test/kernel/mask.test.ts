import { describe, expect, test } from 'bun:test';
import { createMasker, maskColoured, maskLine } from '#kernel/mask';

const SECRET = 'hunter2-correct-horse';

describe('createMasker', () => {
  test('replaces a secret wherever it stands', () => {
    const { mask } = createMasker([SECRET]);
    expect(mask(SECRET)).toBe('[secret]');
    expect(mask(`a${SECRET}b${SECRET}`)).toBe('a[secret]b[secret]');
    expect(mask('nothing to see')).toBe('nothing to see');
    expect(mask(SECRET.slice(0, -1))).toBe(SECRET.slice(0, -1));
  });

  test.each([
    ['base64', Buffer.from(SECRET).toString('base64').replace(/=+$/, '')],
    ['base64url', Buffer.from(SECRET).toString('base64url')],
    ['URL encoding', encodeURIComponent('p@ss/word?&1')],
    ['lower-case URL encoding', encodeURIComponent('p@ss/word?&1').replaceAll(/%../g, (hex) => hex.toLowerCase())],
    ['JSON', JSON.stringify('say "hi"\tnow')],
  ])('finds it in %s', (_, encoded) => {
    const { mask } = createMasker([SECRET, 'p@ss/word?&1', 'say "hi"\tnow']);
    expect(mask(`x ${encoded} y`)).toContain('[secret]');
    expect(mask(`x ${encoded} y`)).not.toContain(encoded.slice(4, -4));
  });

  test.each([0, 1, 2, 3, 4, 5])('finds it inside longer base64, %i bytes after its start', (before) => {
    const { mask } = createMasker([SECRET]);
    const encoded = Buffer.from(`${'u'.repeat(before)}${SECRET}:tail`).toString('base64');
    const shown = mask(`authorization: Basic ${encoded}`);
    expect(shown).toContain('[secret]');
    const rest = shown.slice(shown.indexOf('Basic ') + 6).split('[secret]');
    // Of the secret's characters, at most a part of the first and of the last one is left on each side.
    for (const part of rest) expect(Buffer.from(part, 'base64').toString('latin1')).not.toContain(SECRET.slice(2, 8));
  });

  test('masks a secret of several lines line by line, but not the armour around a key', () => {
    const pem =
      '-----BEGIN PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w0\nBAQEFAASCAUAwggE8AgEAAkE\n-----END PRIVATE KEY-----\n';
    const { mask } = createMasker([pem]);
    expect(pem.split('\n').map(mask)).toEqual([
      '-----BEGIN PRIVATE KEY-----',
      '[secret]',
      '[secret]',
      '-----END PRIVATE KEY-----',
      '',
    ]);
    expect(mask(JSON.stringify({ key: pem }))).toBe('{"key":"[secret]"}');
  });

  test('takes the longest of secrets that begin alike', () => {
    const { mask } = createMasker(['abcdef', 'abcdefghij']);
    expect(mask('abcdefghij abcdefgh')).toBe('[secret] [secret]gh');
  });

  test('finds a secret right after the false start of another one', () => {
    const { mask } = createMasker(['aaaaab']);
    expect(mask('aaaaaaaab')).toBe('aaa[secret]');
  });

  test('finds secrets beyond Latin letters', () => {
    const { mask } = createMasker(['pässwörter', '秘密の言葉です', '🔑🔒🔑🔒']);
    expect(mask('a pässwörter 秘密の言葉です 🔑🔒🔑🔒 z')).toBe('a [secret] [secret] [secret] z');
  });

  test('leaves short and empty values alone', () => {
    const { mask } = createMasker(['', 'a', 'short', '\ud800']);
    expect(mask('a short story')).toBe('a short story');
  });

  test('masks at least 20,000 lines a second with 100 secrets', () => {
    const secrets = Array.from({ length: 100 }, (_, i) =>
      Buffer.from(`${i}-${'s'.repeat(i % 7)}-token-${i * 7919}`).toString('hex'),
    );
    const { mask } = createMasker(secrets);
    const line =
      '2026-11-21T09:00:00Z GET /products/1234?page=5 200 12ms user=42 agent="Mozilla/5.0 (X11; Linux x86_64)"';
    const begin = performance.now();
    for (let i = 0; i < 20_000; i += 1) mask(line);
    expect(performance.now() - begin).toBeLessThan(1000);
  });
});

describe('maskLine', () => {
  const masker = createMasker([SECRET]);
  test('hides the beginning of a secret where the engine cut the line', () => {
    const cut = ('x'.repeat(16 * 1024) + SECRET).slice(10, 16 * 1024 + 10);
    expect(cut.endsWith(SECRET.slice(0, 10))).toBe(true);
    const shown = maskLine(masker, cut);
    expect(shown.endsWith('xxx[secret]')).toBe(true);
  });
  test('leaves the end of an ordinary line as it is', () => {
    expect(maskLine(masker, `short ${SECRET.slice(0, 10)}`)).toBe(`short ${SECRET.slice(0, 10)}`);
  });
});

describe('a line with colours', () => {
  const masker = createMasker([SECRET]);
  test('keeps them where no secret is, and around one', () => {
    expect(maskColoured(masker, '\u001B[32mok\u001B[0m')).toBe('\u001B[32mok\u001B[0m');
    expect(maskColoured(masker, `\u001B[32m${SECRET}\u001B[0m x`)).toBe('\u001B[32m[secret]\u001B[0m x');
    expect(maskColoured(masker, SECRET)).toBe('[secret]');
  });

  test('hides no secret behind a change of colours', () => {
    const cut = `a \u001B[1m${SECRET.slice(0, 4)}\u001B[0m${SECRET.slice(4)} b`;
    expect(maskColoured(masker, cut)).toBe('a [secret] b');
    expect(maskColoured(masker, `${cut}${SECRET}`)).toBe('a [secret] b[secret]');
  });
});
