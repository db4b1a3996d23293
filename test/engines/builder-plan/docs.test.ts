import { expect, test } from 'bun:test';
import { PROVIDERS } from '#engines/builder/providers/index';
import { CATALOGUE } from '#test/e2e/examples/catalogue/index.ts';
import { REAL_TESTS, referenceTables, withReferenceTables } from './reference.ts';

const path = new URL('../../../docs/builder.md', import.meta.url).pathname;

test('docs/builder.md says what the code does', async () => {
  const text = await Bun.file(path).text();
  // To bring it up to date: BERTH_UPDATE_DOCS=1 bun test test/engines/builder-plan/docs.test.ts
  if (process.env['BERTH_UPDATE_DOCS'] === '1') await Bun.write(path, withReferenceTables(text));
  const current = await Bun.file(path).text();
  expect(current).toBe(withReferenceTables(current));
  for (const table of Object.values(referenceTables())) expect(current).toContain(table);
});

test('what the table says of tests is true: the providers and the tests exist', async () => {
  const names = PROVIDERS.map(({ name }) => name);
  for (const name of [...Object.keys(CATALOGUE), ...Object.keys(REAL_TESTS)]) expect(names).toContain(name);
  for (const [name, file] of Object.entries(REAL_TESTS))
    expect(await Bun.file(new URL(file, import.meta.url)).text()).toContain(name);
});
