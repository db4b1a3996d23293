import { afterAll, describe, expect, test } from 'bun:test';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CRYSTAL, ELIXIR, MAKE, MESON, ZIG } from './native-apps.ts';
import { RealBuilds } from './real-support.ts';
import type { Files } from './support.ts';

const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-native-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

describe('programs in other languages, built and run for real', () => {
  test.each<[string, Files, string, string]>([
    ['meson-http', MESON, 'from Meson', 'src/main.c'],
    ['make-http', MAKE, 'from make', 'main.c'],
    ['zig-http', ZIG, 'from Zig', 'src/main.zig'],
    ['elixir-http', ELIXIR, 'from Elixir', 'lib/shop/server.ex'],
    ['crystal-http', CRYSTAL, 'from Crystal', 'src/shop.cr'],
  ])(
    '%s answers, has its libraries, stops in time, and an edit fetches nothing',
    async (name, files, says, source) => {
      const dir = join(folder, name);
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(dir, path)), { recursive: true });
        await writeFile(join(dir, path), text);
      }
      const running = await builds.start((await builds.build(dir)).tag);
      expect(await running.get('/').then((response) => response.text())).toBe(says);
      expect(await running.stop()).toBeLessThan(5000);
      await writeFile(join(dir, source), (files[source] ?? '').replace(says, 'from fjord'.slice(0, says.length)));
      const { tag, cached } = await builds.build(dir);
      // Everything but the sources, the build and what it leaves.
      expect(cached.length).toBeGreaterThanOrEqual(5);
      const again = await builds.start(tag);
      expect(await again.get('/').then((response) => response.text())).toBe('from fjord'.slice(0, says.length));
      await again.stop();
    },
    300_000,
  );
});
