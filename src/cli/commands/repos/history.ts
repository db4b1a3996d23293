import type { CommitView, CompareView, DiffView, RefView } from '#modules/repos';
import { readPages } from '../../client/pages.ts';
import { defineCommand } from '../../command.ts';
import { age, count } from '../../output/format.ts';
import type { Out } from '../../output/out.ts';
import { inert, type Style } from '../../output/style.ts';
import { PAGING } from '../flags.ts';
import { REPO } from './manage.ts';

const MAX_PATCH_BYTES = 4 * 1024 ** 2;

const PATCH = {
  stat: { type: 'boolean', summary: 'only which files changed, and by how many lines' },
} as const;

export const refs = defineCommand({
  name: 'refs',
  summary: 'List branches and tags, and the commits that they point at',
  examples: [
    { line: 'berth repos refs web', says: 'all; the default branch is marked' },
    { line: 'berth repos refs web --kind tag --all', says: 'every tag' },
  ],
  scope: 'project',
  operations: ['listRepoRefs'],
  args: REPO,
  flags: {
    kind: { type: 'string', value: 'KIND', choices: ['branch', 'tag'], summary: 'only those' },
    ...PAGING,
  },
  run: async (context, { args, flags: { kind, ...paging } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await readPages(paging, ['refs'], (page) => api.listRepoRefs(project, args.repo, { ...page, kind }));
    const now = Date.now();
    context.out.list(reply, reply.refs, {
      columns: [
        { title: '', value: (row: RefView) => (row.default ? '*' : ' ') },
        { title: 'NAME', value: (row) => row.name, flexible: true },
        { title: 'KIND', value: (row) => row.kind },
        { title: 'COMMIT', value: (row) => row.commit?.slice(0, 10) },
        { title: 'AGE', value: (row) => age(row.committed_at, now) },
      ],
      empty: 'no branch or tag yet',
    });
  },
});

export const diff = defineCommand({
  name: 'diff',
  summary: 'Show a commit, and what it changed against its first parent',
  details: ['With JSON, the reply of the API: the unified diff is `patch`. With --stat, the commit with its `files`.'],
  examples: [
    { line: 'berth repos diff web main', says: 'the newest commit of a branch' },
    { line: 'berth repos diff web 1f0c3a5e7b --path src', says: 'only what it changed there' },
    { line: 'berth repos diff web v1.2 --stat', says: 'which files' },
  ],
  scope: 'project',
  operations: ['getRepoDiff', 'getRepoCommit'],
  args: { ...REPO, commit: { summary: 'commit id, also its beginning; or a branch or tag' } },
  flags: { ...PATCH, path: { type: 'string', value: 'PATH', summary: 'only what changed in this file or folder' } },
  run: async (context, { args, flags: { stat, path } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const { out } = context;
    if (stat) {
      const commit = await api.getRepoCommit(project, args.repo, args.commit);
      out.data(commit, () => `${commitHead(commit, out.style)}\n${fileLines(commit.files ?? [])}`);
      if (commit.files_truncated === true) out.note('more files changed than are shown');
      return;
    }
    const query = { max_bytes: MAX_PATCH_BYTES, ...(path === undefined ? {} : { path }) };
    const reply = await api.getRepoDiff(project, args.repo, args.commit, query);
    // A merge of nothing has no patch, but is still a commit to be shown.
    const head = out.json ? undefined : await api.getRepoCommit(project, args.repo, reply.commit);
    out.data(reply, () => `${head === undefined ? '' : `${commitHead(head, out.style)}\n`}${patchText(reply, out)}`);
    tellTruncated(out, reply);
  },
});

export const compare = defineCommand({
  name: 'compare',
  summary: 'Compare two branches, tags or commits: what head has that base lacks',
  examples: [
    { line: 'berth repos compare web main feature/login', says: 'commits and changes since both were the same' },
    { line: 'berth repos compare web v1.2', says: 'what the default branch has since a tag' },
  ],
  scope: 'project',
  operations: ['compareRepoRefs'],
  args: {
    ...REPO,
    base: { summary: 'branch, tag or commit' },
    head: { summary: 'the other one; the default branch without', optional: true },
  },
  flags: {
    ...PATCH,
    limit: { type: 'number', value: 'N', integer: true, min: 1, summary: 'at most so many commits (default 50)' },
  },
  run: async (context, { args, flags: { stat, limit } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const { out } = context;
    const reply = await api.compareRepoRefs(project, args.repo, {
      base: args.base,
      max_bytes: MAX_PATCH_BYTES,
      ...(args.head === undefined ? {} : { head: args.head }),
      ...(limit === undefined ? {} : { limit }),
    });
    out.data(reply, () => compareText(reply, out, stat));
    tellTruncated(out, reply);
  },
});

const compareText = (reply: CompareView, out: Out, stat: boolean): string => {
  const now = Date.now();
  const commits = reply.commits.map((each) =>
    inert(
      `${out.style.yellow(each.id.slice(0, 10))} ${age(each.committer.at, now).padEnd(4)} ${each.subject}`,
      out.style.enabled,
    ),
  );
  return [
    `${count(reply.ahead, 'commit')} ahead, ${reply.behind} behind`,
    ...commits,
    '',
    stat ? fileLines(reply.files) : patchText(reply, out),
  ].join('\n');
};

const commitHead = (commit: CommitView, style: Style): string => {
  const message = [commit.subject, ...(commit.body === '' ? [] : ['', ...commit.body.trimEnd().split('\n')])];
  return [
    style.yellow(`commit ${commit.id}`),
    inert(`Author: ${commit.author.name} <${commit.author.email}>`, false),
    `Date:   ${commit.author.at}`,
    '',
    ...message.map((line) => inert(`    ${line}`, false)),
    '',
  ].join('\n');
};

const fileLines = (files: DiffView['files']): string =>
  files
    .map(({ path, from, change, additions, deletions }) => {
      const lines = additions === null ? 'binary' : `+${additions} −${deletions ?? 0}`;
      return inert(`${change.padEnd(12)} ${lines.padEnd(12)} ${from === undefined ? '' : `${from} → `}${path}`, false);
    })
    .join('\n');

const patchText = ({ patch }: Pick<DiffView, 'patch'>, { style }: Out): string =>
  patch
    .split('\n')
    .map((line) => {
      const shown = line
        .split('\t')
        .map((part) => inert(part, false))
        .join('\t');
      if (line.startsWith('@@')) return style.cyan(shown);
      if (/^(?:diff |index |--- |\+\+\+ )/.test(line)) return style.bold(shown);
      if (line.startsWith('+')) return style.green(shown);
      return line.startsWith('-') ? style.red(shown) : shown;
    })
    .join('\n');

const tellTruncated = (out: Out, { truncated }: Pick<DiffView, 'truncated'>): void => {
  if (truncated) out.warn('the changes are too many to be shown whole; clone the repository to see all');
};
