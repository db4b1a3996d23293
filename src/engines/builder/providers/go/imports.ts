import type { Dir } from '../../source-tree.ts';

/** Sources are looked at up to this number: more would take too long. */
const MAX_FILES = 400;

/** The sources of a module that end up in its programs, and whether these are all. */
const sourcesOf = (dir: Dir): { files: string[]; all: boolean } => {
  const files = dir
    .files()
    .filter(
      (file) => file.endsWith('.go') && !/(^|\/)(vendor|testdata|node_modules|[._][^/]*)\/|_test\.go$/.test(file),
    );
  return { files: files.slice(0, MAX_FILES), all: files.length <= MAX_FILES };
};

/** The first file that imports `path`. */
export const fileImporting = (dir: Dir, path: string): string | undefined =>
  firstImporting(dir, sourcesOf(dir).files, path);

const firstImporting = (dir: Dir, files: readonly string[], path: string): string | undefined => {
  const clause = new RegExp(`^\\s*(?:import\\s+)?(?:[\\w.]+\\s+)?"${path}"\\s*$`, 'm');
  return files.find((file) => clause.test(dir.read(file) ?? ''));
};

/** Modules whose purpose it is to run other programs. */
const RUNNERS = /chromedp|go-rod|playwright|ffmpeg|wkhtmltopdf|exiftool|go-plugin|libreoffice|lilypad/i;

/** Why a program may want others beside it, as far as its sources and its modules tell; undefined when nothing says so. */
export const reasonForPrograms = (dirs: readonly Dir[], required: readonly string[]): string | undefined => {
  const runner = required.find((path) => RUNNERS.test(path));
  if (runner !== undefined) return `${runner} runs other programs`;
  for (const dir of dirs) {
    const { files, all } = sourcesOf(dir);
    const file = firstImporting(dir, files, 'os/exec');
    if (file !== undefined) return `${dir.path === '' ? '' : `${dir.path}/`}${file} imports "os/exec"`;
    if (!all) return 'it has too many sources to look at';
  }
  return undefined;
};
