import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { EXAMPLES_DIR } from '#test/support/examples.ts';
import { CATALOGUE } from './catalogue/index.ts';

test('every directory of examples/ is deployed here', () => {
  const names = Object.values(CATALOGUE).flatMap((examples) => examples.map(({ name }) => name));
  expect(names.sort()).toEqual(readdirSync(EXAMPLES_DIR).sort());
});
