import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { createWorld } from '#test/app/world.ts';
import { clientTypes, type OpenApi } from '../../scripts/client-types.ts';

const FILE = join(import.meta.dir, '../../clients/typescript/src/types.ts');

/** Without the descriptions: the framework moves some of them about once a route was used in the same process. */
const shapes = (text: string): string => text.replaceAll(/^ *\/\*\*.*\*\/\n/gm, '');

test('the types of the client are those of the API (update: BERTH_UPDATE_DOCS=1 bun test test/clients/types.test.ts)', async () => {
  const { body } = await createWorld().call('GET /v1/openapi');
  const text = clientTypes(body as OpenApi);
  if (process.env['BERTH_UPDATE_DOCS'] === '1') await Bun.write(FILE, text);
  expect(shapes(await Bun.file(FILE).text())).toBe(shapes(text));
});

test('every operation is in them, by path and method', async () => {
  const { body } = await createWorld().call('GET /v1/openapi');
  const { paths } = body as OpenApi;
  const text = clientTypes(body as OpenApi);
  for (const [path, methods] of Object.entries(paths)) {
    const from = text.indexOf(`  ${JSON.stringify(path)}: {`);
    expect([path, from > 0]).toEqual([path, true]);
    const section = text.slice(from, text.indexOf('\n  };', from));
    for (const method of Object.keys(methods)) expect(section).toContain(`\n    ${method.toUpperCase()}: {`);
  }
});
