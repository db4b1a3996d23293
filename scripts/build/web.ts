import type { BuildArtifact, BunPlugin } from 'bun';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { WebManifest } from '#modules/dashboard';
import { examplesPlugin } from './web-examples.ts';

export interface WebBuildOptions {
  /** For development: readable code, the page of primitives, no compression. */
  development?: boolean;
}

/** The same wherever it is made, so that the manifest's sizes hold. */
export const GZIP_LEVEL = 9;

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  map: 'application/json',
  woff2: 'font/woff2',
  svg: 'image/svg+xml',
};

/** Bundles web/ into `folder`: assets named by their content, the page, and a manifest written last. */
export const buildWeb = async (folder: string, { development = false }: WebBuildOptions = {}): Promise<WebManifest> => {
  const part = `${folder}.part-${process.pid}`;
  rmSync(part, { recursive: true, force: true });
  try {
    const names = await bundle(part, development);
    const assets = names.map((name) => describe(part, `assets/${name}`, development));
    writeFileSync(join(part, 'app.html'), page(names));
    const manifest: WebManifest = {
      page: { ...describe(part, 'app.html', development), path: '/' },
      assets: assets.sort((a, b) => a.path.localeCompare(b.path)),
    };
    writeFileSync(join(part, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(part, folder);
    return manifest;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
};

/** Gives the names of all assets. */
const bundle = async (folder: string, development: boolean): Promise<string[]> => {
  const fonts = new Map<string, Buffer>();
  const result = await Bun.build({
    entrypoints: ['web/main.tsx', 'web/theme.ts', 'web/styles.css'],
    outdir: join(folder, 'assets'),
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: !development,
    publicPath: '/assets/',
    naming: { entry: '[name]-[hash].[ext]', chunk: 'part-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    define: {
      'process.env.NODE_ENV': JSON.stringify(development ? 'development' : 'production'),
      DEVELOPMENT: String(development),
    },
    plugins: [examplesPlugin, fontsApart(fonts)],
  });
  if (!result.success) throw new AggregateError(result.logs, 'cannot bundle web/');
  for (const [name, bytes] of fonts) writeFileSync(join(folder, 'assets', name), bytes);
  return [...result.outputs.map(({ path }: BuildArtifact) => basename(path)), ...fonts.keys()];
};

/** The bundler would put fonts into the style sheet as text, a third larger, and the policy of the page refuses that. */
const fontsApart = (fonts: Map<string, Buffer>): BunPlugin => ({
  name: 'fonts apart',
  setup: (build) => {
    build.onResolve({ filter: /\.woff2$/ }, ({ path }) => {
      const bytes = readFileSync(Bun.resolveSync(path, process.cwd()));
      const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
      const name = `${basename(path, '.woff2')}-${hash}.woff2`;
      fonts.set(name, bytes);
      return { path: `/assets/${name}`, external: true };
    });
  },
});

const describe = (folder: string, file: string, development: boolean): WebManifest['page'] => {
  const bytes = readFileSync(join(folder, file));
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`of no known type: ${file}`);
  // Fonts are compressed in themselves.
  const packs = !development && !file.endsWith('.woff2');
  const gzip = packs ? gzipSync(bytes, { level: GZIP_LEVEL }) : undefined;
  const brotli = packs ? brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }) : undefined;
  if (gzip !== undefined) writeFileSync(join(folder, `${file}.gz`), gzip);
  if (brotli !== undefined) writeFileSync(join(folder, `${file}.br`), brotli);
  return {
    path: `/${file}`,
    file,
    type,
    bytes: bytes.length,
    gzip: gzip?.length ?? null,
    brotli: brotli?.length ?? null,
  };
};

/** The page with the names of what it loads. The theme comes first and at once, so that nothing flashes. */
const page = (names: readonly string[]): string => {
  const named = (begin: string, end: string): string => {
    const found = names.find((name) => name.startsWith(begin) && name.endsWith(end));
    if (found === undefined) throw new Error(`the bundle has no ${begin}*${end}`);
    return `/assets/${found}`;
  };
  const lines = [
    `<script src="${named('theme-', '.js')}"></script>`,
    `<link rel="preload" href="${named('hanken-grotesk-', '.woff2')}" as="font" type="font/woff2" crossorigin />`,
    `<link rel="stylesheet" href="${named('styles-', '.css')}" />`,
    `<link rel="icon" href="${ICON}" />`,
    `<script type="module" src="${named('main-', '.js')}"></script>`,
  ];
  return readFileSync('web/app.html', 'utf8').replace('<!-- assets -->', lines.join('\n    '));
};

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M3 4v13a4 4 0 0 0 4 4h10a4 4 0 0 0 4-4V4" fill="none" stroke="#0b6286" stroke-width="3" stroke-linecap="round"/><rect x="8" y="3" width="8" height="12" rx="2" fill="#2aa0cf"/></svg>',
)}`;
