import { Glob } from 'bun';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { operationIds } from '#test/support/operations.ts';

const SOURCES = join(import.meta.dir, '../../src');
/** Where operations are described by name, for those who read the API's own document. */
const DESCRIPTION = 'modules/system/openapi/';
const TEXT = /'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

/** Sentences of a source that name an operation. */
const naming = (source: string, ids: ReadonlySet<string>): string[] =>
  [...source.replaceAll(/^\s*(?:\*|\/\/|\/\*).*$/gm, '').matchAll(TEXT)]
    .map(([text]) => text)
    .filter((text) => / /.test(text) && [...text.matchAll(/\b[a-z]+[A-Z]\w+/g)].some(([word]) => ids.has(word)));

test('an operation that a text names is found', () => {
  expect(naming("throw notFound('no such file', 'see getRepoTree');", new Set(['getRepoTree']))).toEqual([
    "'see getRepoTree'",
  ]);
});

test('no message and no hint names an operation of the API: people read them in the page and at the terminal too', async () => {
  const ids = new Set(await operationIds());
  const found: string[] = [];
  for (const file of new Glob('**/*.ts').scanSync(SOURCES)) {
    if (file.startsWith(DESCRIPTION)) continue;
    const source = await Bun.file(join(SOURCES, file)).text();
    found.push(...naming(source, ids).map((text) => `${file}: ${text.slice(0, 200)}`));
  }
  expect(found).toEqual([]);
});
