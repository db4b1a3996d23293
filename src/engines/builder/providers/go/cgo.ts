import { fileImporting } from './imports.ts';
import type { GoLayout } from './layout.ts';

/** Modules that need a C compiler, with the Debian packages that they are built with. */
const MODULES: [RegExp, string[]][] = [
  [/^github\.com\/(mattn\/go-sqlite3|mutecomm\/go-sqlcipher(\/v\d+)?)$/, []],
  [/^github\.com\/confluentinc\/confluent-kafka-go(\/v\d+)?$/, []],
  [/^github\.com\/(h2non\/bimg|davidbyttow\/govips(\/v\d+)?|cshum\/vipsgen)$/, ['libvips-dev']],
  [/^gopkg\.in\/gographics\/imagick\.v\d+$/, ['libmagickwand-dev']],
  [/^github\.com\/(DataDog\/zstd|valyala\/gozstd)$/, []],
  [/^github\.com\/(marcboeker\/go-duckdb|duckdb\/duckdb-go)(\/v\d+)?$/, []],
  [/^github\.com\/(tursodatabase\/go-libsql|asg017\/sqlite-vec-go-bindings)$/, []],
  [/^github\.com\/pebbe\/zmq\d$/, ['libzmq3-dev']],
  [/^github\.com\/otiai10\/gosseract(\/v\d+)?$/, ['libtesseract-dev', 'libleptonica-dev']],
  [
    /^github\.com\/linxGnu\/grocksdb$/,
    ['librocksdb-dev', 'zlib1g-dev', 'libbz2-dev', 'libsnappy-dev', 'liblz4-dev', 'libzstd-dev'],
  ],
  [/^github\.com\/(chai2010\/webp|gen2brain\/go-fitz|rogchap\/v8go)$|^rogchap\.com\/v8go$/, []],
  [/^github\.com\/(wasmerio\/wasmer-go|bytecodealliance\/wasmtime-go(\/v\d+)?)$/, []],
  [/^github\.com\/kolesa-team\/go-webp$/, ['libwebp-dev']],
];

export interface Cgo {
  on: boolean;
  /** Why, for the log; empty when nothing is special. */
  reason: string;
  apt: string[];
}

/** Whether the app needs a C compiler: as the project says, by its modules, or by its own code. */
export const cgoOf = ({ modules, local, module, context }: GoLayout, env: Record<string, string>): Cgo => {
  const needed = [...modules, ...local]
    .flatMap(({ manifest }) => manifest.requires)
    .flatMap(({ path }) => MODULES.filter(([pattern]) => pattern.test(path)).map(([, apt]) => ({ path, apt })));
  const apt = needed.flatMap((each) => each.apt);
  const set = env['CGO_ENABLED'];
  if (set === '0') return { on: false, reason: 'cgo is off: CGO_ENABLED is 0', apt: [] };
  if (set === '1') return { on: true, reason: 'cgo is on: CGO_ENABLED is 1', apt };
  if (needed[0] !== undefined) return { on: true, reason: `cgo is on: ${needed[0].path} needs it`, apt };
  const file = fileImporting(module?.dir ?? context, 'C');
  return file === undefined
    ? { on: false, reason: '', apt }
    : { on: true, reason: `cgo is on: ${file} imports "C"`, apt };
};
