import { writeFile } from 'node:fs/promises';
import type { CommitView, FileView, Repo, TreeView } from '#modules/repos';
import type { Api, Paging } from '../../client/api.ts';
import { readPages } from '../../client/pages.ts';
import { defineCommand } from '../../command.ts';
import { localError } from '../../failure.ts';
import { age, bytes, count } from '../../output/format.ts';
import { inert } from '../../output/style.ts';
import { PAGING } from '../flags.ts';
import { deploysText, REPO } from './manage.ts';

const REF = {
  ref: { type: 'string', value: 'REF', summary: 'branch, tag or commit; the default branch without' },
} as const;

export const info = defineCommand({
  name: 'info',
  summary: 'Show a repository: its address, what pushes deploy, its mirror, its size',
  examples: [{ line: 'berth repos info web', says: 'also how the last fetch of a mirror went' }],
  scope: 'project',
  operations: ['getRepo'],
  args: REPO,
  flags: {},
  run: async (context, { args }) => {
    const repo = await (await context.api()).getRepo(await context.project(), args.repo);
    context.out.data(repo, () => infoText(repo, Date.now()));
  },
});

const infoText = (repo: Repo, now: number): string => {
  const facts: [string, string][] = [
    ['clone', repo.clone_url],
    ['branch', `${repo.default_branch}${repo.empty ? ', nothing pushed yet' : ''}`],
    ['deploys', deploysText(repo) ?? 'nothing'],
    ['pushed', repo.pushed_at === null ? 'never' : `${age(repo.pushed_at, now)} ago`],
    ['size', bytes(repo.size_bytes)],
    ['made', `${repo.created_at} by ${repo.created_by}`],
  ];
  if (repo.mirror_of !== null) {
    const fetched = repo.mirrored_at === null ? 'never' : `${age(repo.mirrored_at, now)} ago`;
    facts.push(['mirror', repo.mirror_of], ['fetched', fetched], ['webhook', repo.webhook_url ?? '-']);
    const failure = repo.mirror_error;
    if (failure !== null) facts.push(['failed', `${failure.message} (${failure.code})`], ['hint', failure.hint]);
  }
  return facts.map(([name, value]) => `${name.padEnd(8)} ${inert(value, false)}`).join('\n');
};

export const log = defineCommand({
  name: 'log',
  summary: 'List commits, newest first',
  examples: [
    { line: 'berth repos log web --limit 10', says: 'of the default branch' },
    { line: 'berth repos log web --ref v1.2 --path src/main.ts', says: 'those that changed a file, before a tag' },
  ],
  scope: 'project',
  operations: ['listRepoCommits'],
  args: REPO,
  flags: {
    ...REF,
    path: { type: 'string', value: 'PATH', summary: 'only those that changed this file or folder' },
    files: { type: 'boolean', summary: 'show how much each one changed' },
    ...PAGING,
  },
  run: async (context, { args, flags: { ref, path, files, ...paging } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const query = {
      ...(ref === undefined ? {} : { ref }),
      ...(path === undefined ? {} : { path }),
      ...(files ? { files } : {}),
    };
    const reply = await readPages(paging, ['commits'], (page) =>
      api.listRepoCommits(project, args.repo, { ...page, ...query }),
    );
    const now = Date.now();
    context.out.list(reply, reply.commits, {
      columns: [
        { title: 'COMMIT', value: (row) => row.id.slice(0, 10) },
        { title: 'AGE', value: (row) => age(row.committer.at, now) },
        { title: 'AUTHOR', value: (row) => row.author.name, flexible: true },
        ...(files ? [{ title: 'CHANGED', value: changedText }] : []),
        { title: 'SUBJECT', value: (row) => row.subject, flexible: true },
      ],
      empty: 'no commit',
    });
  },
});

/** What the API gives at most of a tree at once. */
const TREE_PAGE = 5000;

const changedText = ({ files = [], files_truncated: cut }: CommitView): string => {
  const sum = (of: 'additions' | 'deletions'): number => files.reduce((total, file) => total + (file[of] ?? 0), 0);
  return `${count(files.length, 'file')}${cut === true ? ' and more' : ''} +${sum('additions')} −${sum('deletions')}`;
};

export const tree = defineCommand({
  name: 'tree',
  summary: 'List a folder of a repository, or all files below it',
  examples: [
    { line: 'berth repos tree web src', says: 'a folder' },
    { line: 'berth repos tree web --recursive --ref v1.2', says: 'all files, as of a tag' },
  ],
  scope: 'project',
  operations: ['getRepoTree'],
  args: { ...REPO, path: { summary: 'folder; the root without', optional: true } },
  flags: {
    ...REF,
    recursive: { type: 'boolean', short: 'r', summary: 'all files below' },
    ...PAGING,
    limit: { ...PAGING.limit, summary: 'at most so many (default 1000)' },
  },
  run: async (context, { args, flags: { ref, recursive, ...paging } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const query = {
      ...(ref === undefined ? {} : { ref }),
      ...(args.path === undefined ? {} : { path: args.path }),
      ...(recursive ? { recursive } : {}),
    };
    const read = (page: Paging): Promise<TreeView> => api.getRepoTree(project, args.repo, { ...page, ...query });
    const reply = await readPages(paging, ['entries'], read, TREE_PAGE);
    context.out.list(reply, reply.entries, {
      columns: [
        { title: 'MODE', value: (row) => row.mode },
        { title: 'SIZE', value: (row) => (row.size === null ? null : bytes(row.size)), align: 'right' },
        { title: 'PATH', value: (row) => `${row.path}${row.kind === 'directory' ? '/' : ''}` },
      ],
      empty: 'no file',
    });
  },
});

export const show = defineCommand({
  name: 'show',
  summary: 'Show a file of a repository',
  examples: [
    { line: 'berth repos show web README.md', says: 'as text; with --json what the API says of it' },
    { line: 'berth repos show web logo.png --ref v1.2 -o logo.png', says: 'its bytes into a file' },
  ],
  scope: 'project',
  operations: ['getRepoFile'],
  args: { ...REPO, path: { summary: 'path from the root of the repository' } },
  flags: {
    ...REF,
    output: { type: 'string', short: 'o', value: 'FILE', summary: 'write its bytes there', complete: 'file' },
  },
  run: async (context, { args, flags: { ref, output } }) => {
    const asked = { path: args.path, ...(ref === undefined ? {} : { ref }) };
    const read = await readWhole(await context.api(), await context.project(), args.repo, asked);
    if (output !== undefined) {
      const file = context.path(output);
      await writeFile(file, read.content, { flag: 'wx' });
      context.out.data({ file, bytes: read.content.length }, () => `${file}: ${bytes(read.content.length)}`);
    } else if (!context.out.json && read.first.binary) {
      throw localError(`${args.path} is binary`, 'write it to a file: --output FILE');
    } else context.out.data(wholeReply(read), () => text(read.content));
  },
});

interface WholeFile {
  first: FileView;
  content: Buffer;
}

/** What the API takes at most as a range. */
const PART_BYTES = 4 * 1024 ** 2;

/** Part after part, all of the commit that the first one was of. */
const readWhole = async (
  api: Api,
  project: string,
  repo: string,
  asked: { path: string; ref?: string },
): Promise<WholeFile> => {
  const first = await api.getRepoFile(project, repo, { ...asked, offset: 0, length: PART_BYTES });
  const parts = [bytesOf(first)];
  for (let offset = first.next_offset; offset !== null;) {
    const part = await api.getRepoFile(project, repo, { ...asked, ref: first.commit, offset, length: PART_BYTES });
    parts.push(bytesOf(part));
    if (part.next_offset !== null && part.next_offset <= offset)
      throw localError('the server does not get on with the file', 'clone the repository instead: berth clone');
    offset = part.next_offset;
  }
  return { first, content: Buffer.concat(parts) };
};

const bytesOf = ({ content, encoding }: FileView): Buffer =>
  Buffer.from(content, encoding === 'base64' ? 'base64' : 'utf8');

const wholeReply = ({ first, content }: WholeFile): FileView =>
  first.next_offset === null
    ? first
    : {
        ...first,
        encoding: 'base64',
        content: content.toString('base64'),
        length: content.length,
        next_offset: null,
      };

const text = (content: Buffer): string => {
  const lines = content.toString('utf8').split('\n');
  return lines
    .map((line) =>
      line
        .split('\t')
        .map((cell) => inert(cell, false))
        .join('\t'),
    )
    .join('\n');
};
