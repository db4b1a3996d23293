import { afterAll, afterEach } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// bunfig.toml loads this before the first test. The hooks of a module that test files import would only count for the first
// of them: modules are evaluated once.

const cleanUps: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Runs at the end of the test. */
export const atEnd = (cleanUp: () => void | Promise<void>): void => {
  cleanUps.push(cleanUp);
};

const temporary = mkdtempSync(join(tmpdir(), 'berth-tests-'));
process.env['TMPDIR'] = temporary;
afterAll(() => {
  const left = readdirSync(temporary);
  rmSync(temporary, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`tests left this in the temporary directory: ${left.join(', ')}`);
});
