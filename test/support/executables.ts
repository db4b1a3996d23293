import { copyFileSync, mkdirSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NEWEST_SCHEMA } from '#kernel/database';

const ROOT = join(import.meta.dir, '../..');

/** How an executable of `buildVariant` behaves: a word in the file `behaviour` beside it. */
export type Behaviour = 'well' | 'crash' | 'hang' | 'fade' | 'bad-migration' | 'late-migration';

/** Reads that word; part of the variant. */
const READ = `
import { existsSync as there, readFileSync as read } from 'node:fs';
import { dirname as folderOf } from 'node:path';
const behaviour = () => {
  const file = folderOf(process.execPath) + '/behaviour';
  return there(file) ? read(file, 'utf8').trim() : 'well';
};
const variantServes = process.argv[2] === 'server' && process.argv[3] !== 'check' && process.argv[3] !== 'upgrade';
`;

/** Replacements in the sources, by file: the text must be there. */
const CHANGES: Record<string, readonly [from: string | RegExp, to: string][]> = {
  'src/main.ts': [
    [
      'const stopped =',
      `${READ}
if (variantServes && behaviour() === 'crash') process.exit(3);
if (variantServes && behaviour() === 'hang') for (;;);
const stopped =`,
    ],
  ],
  'src/kernel/database.ts': [
    [
      /\n\];/,
      `
  { version: ${NEWEST_SCHEMA + 1}, get sql() {
    const bad = behaviour() === 'bad-migration' || (behaviour() === 'late-migration' && variantServes);
    return \`CREATE TABLE later (id TEXT PRIMARY KEY) STRICT;\` + (bad ? 'UPDATE nowhere SET id = 1;' : '');
  } },
];
${READ}`,
    ],
  ],
  'src/compose/platform.ts': [
    [
      'problem: () => problem,',
      `problem: () => (behaviour() === 'fade' && process.uptime() > 1.5 ? 'it faded' : problem),`,
    ],
    ['const RETRY_MS', `${READ}\nconst RETRY_MS`],
  ],
};

/** Compiles berth as another version, with a migration more, that can be told to fail. */
export const buildVariant = async (outfile: string, version: string): Promise<void> => {
  mkdirSync(dirname(outfile), { recursive: true });
  const result = await Bun.build({
    entrypoints: [join(ROOT, 'src/main.ts')],
    minify: { syntax: true, whitespace: true, identifiers: false },
    format: 'esm',
    compile: { outfile: `${outfile}.part`, autoloadDotenv: false, autoloadBunfig: false },
    plugins: [
      {
        name: 'variant',
        setup: (build) => {
          build.onLoad({ filter: /\/package\.json$/ }, async ({ path }) => {
            const text = await readFile(path, 'utf8');
            const manifest = JSON.parse(text) as Record<string, unknown>;
            return {
              contents: JSON.stringify(path === join(ROOT, 'package.json') ? { ...manifest, version } : manifest),
              loader: 'json',
            };
          });
          build.onLoad({ filter: /\/src\/(?:main|kernel\/database|compose\/platform)\.ts$/ }, async ({ path }) => {
            let contents = await readFile(path, 'utf8');
            for (const [from, to] of CHANGES[path.slice(ROOT.length + 1)] ?? []) {
              if (!(typeof from === 'string' ? contents.includes(from) : from.test(contents)))
                throw new Error(`${path} has no ${from} to change`);
              contents = contents.replace(from, () => to);
            }
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  if (!result.success) throw new AggregateError(result.logs, `cannot compile ${outfile}`);
  await rename(`${outfile}.part`, outfile);
};

/** A copy of the executable under test, at a place of its own. */
export const copyExecutable = (to: string): void => {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(ROOT, 'dist/berth'), to);
};
