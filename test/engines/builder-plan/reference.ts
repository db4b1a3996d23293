import { OVERRIDE_KEYS } from '#engines/builder/overrides';
import { TOOLS } from '#engines/builder/versions';
import { PROVIDERS } from '#engines/builder/providers/index';
import { CATALOGUE } from '#test/e2e/examples/catalogue/index.ts';

/** Providers without an example, and the test that builds and serves an app of theirs all the same. */
export const REAL_TESTS: Record<string, string> = {
  crystal: 'real-native.test.ts',
  elixir: 'real-native.test.ts',
  shell: 'real-static.test.ts',
  zig: 'real-native.test.ts',
};

/** How far a provider is proven: by examples that are deployed, by an app that is built and served, or by plans alone. */
const provenBy = (provider: string): string => {
  const examples = (CATALOGUE[provider] ?? []).map(({ name }) => `\`${name}\``);
  if (examples.length > 0) return `deployed: ${examples.join(', ')}`;
  return REAL_TESTS[provider] === undefined ? 'plans' : 'built and served';
};

/** The tables of docs/builder.md, made from what the code really does; a test says when the document is out of date. */
export const referenceTables = (): { providers: string; overrides: string; versions: string } => ({
  providers: table(
    ['`provider`', 'for', 'detected by', 'notes', 'tested by'],
    PROVIDERS.map(({ name, doc }) => [`\`${name}\``, doc.title, doc.detects, doc.notes, provenBy(name)]),
  ),
  overrides: table(
    ['`[build]` key', 'variable', 'meaning'],
    Object.entries(OVERRIDE_KEYS).map(([key, { doc }]) => [`\`${key}\``, `\`BERTH_${key.toUpperCase()}\``, doc]),
  ),
  versions: table(
    ['language', 'default', 'known'],
    Object.values(TOOLS).map(({ title, fallback, lines }) => [title, fallback, lines.join(', ')]),
  ),
});

const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

/** Replaces what stands between a document's `<!-- name -->` and `<!-- /name -->` by the tables. */
export const withReferenceTables = (document: string): string =>
  Object.entries(referenceTables()).reduce(
    (text, [name, content]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`),
        (_whole, open: string, close: string) => `${open}${content}\n${close}`,
      ),
    document,
  );
