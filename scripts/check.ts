#!/usr/bin/env bun
/** Format, lint, types, dead code: everything that needs no Docker. Runs all of them, then fails if one did. */
const CHECKS: Record<string, string[]> = {
  format: ['oxfmt', '--check', '.'],
  lint: ['oxlint', '--deny-warnings', '.'],
  types: ['tsc', '--noEmit'],
  'dead code': ['knip'],
  'dead code in production': ['knip', '--production'],
};

const run = async ([name, argv]: [string, string[]]): Promise<boolean> => {
  const begun = performance.now();
  const child = Bun.spawn(['bun', 'x', '--no-install', ...argv], { stdout: 'pipe', stderr: 'pipe' });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  console.log(`${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  if (code !== 0) console.log(`${out}${error}`);
  return code === 0;
};

const results: boolean[] = [];
for (const check of Object.entries(CHECKS)) results.push(await run(check));
process.exitCode = results.every(Boolean) ? 0 : 1;
