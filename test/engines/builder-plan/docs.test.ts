import { expect, test } from 'bun:test';
import { referenceTables, withReferenceTables } from './reference.ts';

const path = new URL('../../../docs/builder.md', import.meta.url).pathname;

test('docs/builder.md says what the code does', async () => {
  const text = await Bun.file(path).text();
  // To bring it up to date: BERTH_UPDATE_DOCS=1 bun test test/engines/builder-plan/docs.test.ts
  if (process.env['BERTH_UPDATE_DOCS'] === '1') await Bun.write(path, withReferenceTables(text));
  const current = await Bun.file(path).text();
  expect(current).toBe(withReferenceTables(current));
  for (const table of Object.values(referenceTables())) expect(current).toContain(table);
});
