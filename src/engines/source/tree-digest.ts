import { createHash } from 'node:crypto';

/** The digest of a tree of files: independent of the order in which they came, and of owners and times. */
export interface TreeDigest {
  addFile(path: string, executable: boolean, sha256: string): void;
  /** A further name for the file at `of`. */
  addCopy(path: string, of: string): void;
  addLink(path: string, target: string): void;
  /** Takes a path out again; says whether it was there. */
  forget(path: string): boolean;
  finish(): string;
}

export const createTreeDigest = (): TreeDigest => {
  const entries = new Map<string, { kind: 'file' | 'program' | 'link'; content: string }>();
  return {
    addFile: (path, executable, sha256) =>
      entries.set(path, { kind: executable ? 'program' : 'file', content: sha256 }),
    addCopy: (path, of) => {
      const source = entries.get(of);
      if (source !== undefined) entries.set(path, source);
    },
    addLink: (path, target) => entries.set(path, { kind: 'link', content: target }),
    forget: (path) => entries.delete(path),
    finish: () => {
      const hash = createHash('sha256');
      for (const path of [...entries.keys()].sort()) {
        const entry = entries.get(path);
        hash.update(JSON.stringify([path, entry?.kind, entry?.content]));
      }
      return hash.digest('hex');
    },
  };
};
