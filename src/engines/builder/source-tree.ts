/** What the planner may see of an upload: a listing and the text of single files. Nothing else is read, nothing is run. */
export interface SourceTree {
  /** Relative paths with forward slashes, sorted by code unit, bounded by whoever lists them. */
  files: readonly string[];
  /** The text of a file, or undefined when it is missing, too large, or not text. */
  read(path: string): string | undefined;
  isExecutable?(path: string): boolean;
}

/** A folder of a tree; every path it takes and gives is relative to that folder. */
export class Dir {
  /** Path of the folder inside the upload, without slashes at its ends; empty for the upload's root. */
  readonly path: string;
  readonly #tree: SourceTree;
  readonly #known: ReadonlySet<string>;
  readonly #prefix: string;
  #entries: string[] | undefined;

  constructor(tree: SourceTree, path = '', known: ReadonlySet<string> = new Set(tree.files)) {
    this.#tree = tree;
    this.#known = known;
    this.path = path;
    this.#prefix = path === '' ? '' : `${path}/`;
  }

  dir(path: string): Dir {
    return new Dir(this.#tree, this.#prefix + path, this.#known);
  }

  has(path: string): boolean {
    return this.#known.has(this.#prefix + path);
  }

  hasDir(path: string): boolean {
    const wanted = `${this.#prefix}${path}/`;
    return this.#tree.files[lowerBound(this.#tree.files, wanted)]?.startsWith(wanted) ?? false;
  }

  read(path: string): string | undefined {
    return this.has(path) ? this.#tree.read(this.#prefix + path)?.replace(/^\uFEFF/, '') : undefined;
  }

  isExecutable(path: string): boolean {
    return this.#tree.isExecutable?.(this.#prefix + path) ?? false;
  }

  /** The first of the names that exists. */
  firstOf(...names: string[]): string | undefined {
    return names.find((name) => this.has(name));
  }

  /** Every file below this folder. */
  files(): string[] {
    const { files } = this.#tree;
    const found: string[] = [];
    for (let index = lowerBound(files, this.#prefix); index < files.length; index += 1) {
      const file = files[index];
      if (file === undefined || !file.startsWith(this.#prefix)) break;
      found.push(file.slice(this.#prefix.length));
    }
    return found;
  }

  /** Names directly in this folder; those of folders end with a slash. */
  entries(): string[] {
    this.#entries ??= this.#list();
    return this.#entries;
  }

  /** Leaps over what lies in folders: the root of a large source has few entries. */
  #list(): string[] {
    const { files } = this.#tree;
    const found: string[] = [];
    let index = lowerBound(files, this.#prefix);
    for (let file = files[index]; file?.startsWith(this.#prefix); file = files[index]) {
      const slash = file.indexOf('/', this.#prefix.length);
      found.push(slash < 0 ? file.slice(this.#prefix.length) : file.slice(this.#prefix.length, slash + 1));
      // "0" is the character after "/".
      index = slash < 0 ? index + 1 : lowerBound(files, `${file.slice(0, slash)}0`);
    }
    return found;
  }
}

const lowerBound = (sorted: readonly string[], wanted: string): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
};
