import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from './preload.ts';

const PRELOAD = join(import.meta.dir, 'preload.ts');

/** What `bun test` says of these tests; `made` is a new folder in the temporary directory. */
const runTests = async (bodies: string[]): Promise<{ status: number; output: string }> => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-preload-'));
  atEnd(() => rmSync(dir, { recursive: true }));
  for (const [index, body] of bodies.entries())
    writeFileSync(
      join(dir, `${index}.test.ts`),
      `import { test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { atEnd } from '${PRELOAD}';
test('${index}', () => {
  const made = mkdtempSync(tmpdir() + '/made-');
  ${body}
});`,
    );
  const child = Bun.spawn([process.execPath, 'test', '--preload', PRELOAD], {
    cwd: dir,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, error, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { status, output: out + error };
};

const TIDY = 'atEnd(() => rmSync(made, { recursive: true }));';

test('what a test tidies up at its end is tidied up in every file', async () => {
  expect(await runTests([TIDY, TIDY])).toMatchObject({ status: 0 });
});

test('a folder that a test leaves in the temporary directory fails the run', async () => {
  const { status, output } = await runTests([TIDY, '']);
  expect(output).toMatch(/tests left this in the temporary directory: made-\w+/);
  expect(status).toBe(1);
});
