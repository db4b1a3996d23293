import { createIgnore, IGNORE_FILE } from '#kernel/source-rules';
import { archiveOf } from './archive.ts';
import { sourceFile, treeOf, unusable, type Source, type SourceFile } from './source.ts';

/** The source among what was dropped. Must be called while the drop is handled: the browser forgets it afterwards. */
export const sourceOfDrop = async ({ items, files }: DataTransfer): Promise<Source> => {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const [only] = entries;
  // Dragged out of another program: files without a place of their own.
  if (only === undefined && files.length > 0) return sourceOfFiles([...files]);
  if (only === undefined)
    throw unusable('nothing that could be deployed was dropped', 'drop a folder, or a .zip or .tar.gz of one');
  if (entries.length === 1 && only.isFile) {
    const file = await fileOf(only as FileSystemFileEntry);
    const archive = archiveOf(file);
    if (archive !== undefined) return archive;
  }
  const root = entries.length === 1 && only.isDirectory ? await childrenOf(only as FileSystemDirectoryEntry) : entries;
  return gather(entries.length === 1 ? only.name : 'app', root);
};

/** The source among the files of a file input, which gives folders as paths. */
export const sourceOfFiles = async (files: readonly File[]): Promise<Source> => {
  const [first] = files;
  if (first === undefined) throw unusable('the folder is empty', 'choose a folder with the source of an app');
  const archive = files.length === 1 && first.webkitRelativePath === '' ? archiveOf(first) : undefined;
  if (archive !== undefined) return archive;
  const folder = first.webkitRelativePath.split('/')[0] || 'app';
  const all = files.map((file) => ({ path: file.webkitRelativePath.split('/').slice(1).join('/') || file.name, file }));
  const ignore = createIgnore(await ignoreText(all.find(({ path }) => path === IGNORE_FILE)?.file));
  const kept = all.filter(({ path }) => !ignoredAnywhere(path, ignore));
  return treeOf(
    folder,
    kept.map(({ path, file }) => sourceFile(path, file)),
    all.length - kept.length,
  );
};

/** A source from text, such as an example. */
export const sourceOfTexts = (name: string, texts: Record<string, string>): Source =>
  treeOf(
    name,
    Object.entries(texts).map(([path, text]) => sourceFile(path, new File([text], path))),
    0,
  );

/** Walks entries without going into what is ignored: node_modules may hold 100,000 files. */
const gather = async (name: string, root: readonly FileSystemEntry[]): Promise<Source> => {
  const rules = root.find((entry) => entry.isFile && entry.name === IGNORE_FILE) as FileSystemFileEntry | undefined;
  const ignore = createIgnore(await ignoreText(rules === undefined ? undefined : await fileOf(rules)));
  const files: SourceFile[] = [];
  let left = 0;
  const walk = async (entries: readonly FileSystemEntry[], folder: string): Promise<void> => {
    for (const entry of entries) {
      const path = `${folder}${entry.name}`;
      if (ignore(path)) left += 1;
      else if (entry.isDirectory) await walk(await childrenOf(entry as FileSystemDirectoryEntry), `${path}/`);
      else files.push(sourceFile(path, await fileOf(entry as FileSystemFileEntry)));
    }
  };
  await walk(root, '');
  return treeOf(name, files, left);
};

const ignoredAnywhere = (path: string, ignore: (path: string) => boolean): boolean => {
  const parts = path.split('/');
  return parts.some((_part, index) => ignore(parts.slice(0, index + 1).join('/')));
};

const ignoreText = async (file: File | undefined): Promise<string> => (file === undefined ? '' : file.text());

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** A reader gives a part at a time (100 in Chromium), and nothing at the end. */
const childrenOf = async (entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> => {
  const reader = entry.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return all;
    all.push(...part);
  }
};
