import type { Repo } from '#modules/repos';
import { to } from '../locations.ts';

export interface RepoId {
  project: string;
  repo: string;
}

/** Parts of a repository's page. */
export const SECTIONS = ['tree', 'file', 'edit', 'new', 'commits', 'commit', 'compare', 'settings'] as const;
export type Section = (typeof SECTIONS)[number];

export interface RepoPlace {
  section: Section;
  /** Of a file or a folder, or a commit; empty for the root. */
  path: string;
}

/** What stands behind the name of the repository: `file/src/main.ts`. Undefined for what is no part of it. */
export const parsePlace = (rest = ''): RepoPlace | undefined => {
  if (rest === '') return { section: 'tree', path: '' };
  const [first = '', ...path] = rest.split('/');
  const section = SECTIONS.find((each) => each === first);
  return section === undefined ? undefined : { section, path: path.join('/') };
};

type PlaceQuery = Record<string, string | undefined>;

/** The address of a part. The ref is in the query, because refs have slashes too. */
export const repoTo = ({ project, repo }: RepoId, section: Section, path = '', query: PlaceQuery = {}): string => {
  const known = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const search = new URLSearchParams(known).toString();
  const place =
    section === 'tree' && path === ''
      ? to('repo', { project, repo })
      : to('repoPath', { project, repo, rest: path === '' ? section : `${section}/${path}` });
  return search === '' ? place : `${place}?${search}`;
};

export const parentOf = (path: string): string => path.split('/').slice(0, -1).join('/');
export const nameOf = (path: string): string => path.split('/').at(-1) ?? path;

/** A path in a repository, seen from one of its folders, as a link in a README means it; undefined when it leaves the root. */
export const resolvePath = (folder: string, link: string): string | undefined => {
  const parts = link.startsWith('/') || folder === '' ? [] : folder.split('/');
  for (const part of link.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
};

/** `#L3` or `#L3-L9` as lines, from 1. */
export const parseLines = (hash: string): { from: number; to: number } | undefined => {
  const [, from, end] = /^#L(\d{1,8})(?:-L(\d{1,8}))?$/.exec(hash) ?? [];
  if (from === undefined) return undefined;
  const lines = [Number(from), Number(end ?? from)].sort((a, b) => a - b);
  return lines[0] === 0 ? undefined : { from: lines[0] ?? 1, to: lines[1] ?? 1 };
};

/** What a part of the page about files is given. */
export interface PartProps {
  id: RepoId;
  repo: Repo;
  /** The ref as the address names it; undefined for the default branch. */
  at: string | undefined;
  path: string;
}
