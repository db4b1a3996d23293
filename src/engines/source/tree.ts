import { refuseEntry, show } from './entry-path.ts';

/** What an archive has put at a path so far. A link's target is kept as it was written. */
export type Node = { kind: 'dir' } | { kind: 'file'; size: number } | { kind: 'link'; target: string };

const MAX_LINKS = 10_000;
const MAX_HOPS = 40;

/**
 * The tree that an archive describes, kept in memory while it is unpacked. Links are only recorded here, and made on
 * disk when everything else is there: so no write can ever go through one.
 */
export class Tree {
  readonly #nodes = new Map<string, Node>();
  #links = 0;

  get(path: string): Node | undefined {
    return this.#nodes.get(path);
  }

  entries(): IterableIterator<[string, Node]> {
    return this.#nodes.entries();
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Records the directories above `parts`, and returns those that are new, outermost first. */
  addParents(name: string, parts: readonly string[]): string[] {
    const added: string[] = [];
    let path = '';
    for (const part of parts.slice(0, -1)) {
      path = path === '' ? part : `${path}/${part}`;
      const node = this.#nodes.get(path);
      if (node?.kind === 'link') throw refuseEntry(name, `would be written through the link ${show(path)}`);
      if (node?.kind === 'file') throw refuseEntry(name, `lies below the file ${show(path)}`);
      if (node === undefined) {
        this.#nodes.set(path, { kind: 'dir' });
        added.push(path);
      }
    }
    return added;
  }

  /** Records an entry. A later file or link replaces an earlier one; nothing replaces a directory but itself. */
  put(name: string, path: string, node: Node): void {
    const before = this.#nodes.get(path);
    if (before !== undefined && (before.kind === 'dir') !== (node.kind === 'dir')) {
      throw refuseEntry(name, `is a ${before.kind} before and a ${node.kind} later in the same archive`);
    }
    if (before?.kind === 'link' && node.kind === 'file') throw refuseEntry(name, 'would be written through a link');
    if (node.kind === 'link' && before?.kind !== 'link') this.#links += 1;
    if (this.#links > MAX_LINKS) throw refuseEntry(name, `is one of over ${MAX_LINKS} symbolic links`);
    this.#nodes.set(path, node);
  }

  /** Forgets `path` and all below it. */
  drop(path: string): void {
    this.#nodes.delete(path);
  }

  /** Follows the link at `path` as the kernel would, and refuses it when any step leaves the root. */
  checkLink(path: string): void {
    const name = path;
    const at = path.split('/').slice(0, -1);
    const todo = this.#targetParts(name, path);
    let hops = 0;
    while (todo.length > 0) {
      const part = todo.shift();
      if (part === undefined || part === '' || part === '.') continue;
      if (part === '..') {
        if (at.pop() === undefined) throw refuseEntry(name, 'is a link that leaves the source directory');
        continue;
      }
      at.push(part);
      const here = at.join('/');
      if (this.#nodes.get(here)?.kind !== 'link') continue;
      hops += 1;
      if (hops > MAX_HOPS) throw refuseEntry(name, 'is a link that leads through too many links');
      at.pop();
      todo.unshift(...this.#targetParts(name, here));
    }
  }

  #targetParts(name: string, path: string): string[] {
    const node = this.#nodes.get(path);
    if (node?.kind !== 'link') return [];
    if (node.target.startsWith('/')) throw refuseEntry(name, 'is a link to an absolute path');
    return node.target.split('/');
  }
}
