import { lstat, readFile } from 'node:fs/promises';
import { isAbsolute, posix, relative, sep } from 'node:path';
import { isUtf8 } from 'node:buffer';
import type { CommitFiles, CommittedFiles } from '#modules/repos';
import { defineCommand } from '../../command.ts';
import type { Context } from '../../context.ts';
import { CliFailure, localError, usageError } from '../../failure.ts';
import { followOperation } from '../../follow.ts';
import { DETACH, DRY_RUN } from '../flags.ts';
import { REPO } from './manage.ts';

type FileChange = CommitFiles['files'][number];

export const commit = defineCommand({
  name: 'commit',
  summary: 'Commit files from disk, without git and without a clone',
  details: [
    'One commit of all files, or none. A file gets the path that it has below the current folder, below --to in the repository; it is executable there when it is here. In an empty repository the first branch is made. When the branch is one that deploys, the deploy is followed.',
  ],
  examples: [
    { line: "berth repos commit web -m 'Say hello' server.js package.json", says: 'to the default branch' },
    { line: "berth repos commit web -m 'Drop the old page' --delete old.html", says: 'a folder goes with all in it' },
    {
      line: "berth repos commit web -m 'Bump' package.json --expected-head 1f0c3a5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f70",
      says: 'CONFLICT when somebody was faster',
    },
  ],
  scope: 'project',
  operations: ['commitRepoFiles'],
  args: {
    ...REPO,
    files: { summary: 'files below the current folder', variadic: true, optional: true, complete: 'file' },
  },
  flags: {
    message: { type: 'string', short: 'm', value: 'TEXT', summary: 'message of the commit' },
    branch: { type: 'string', short: 'b', value: 'BRANCH', summary: 'the default branch without; made when new' },
    from: { type: 'string', value: 'REF', summary: 'where a new branch starts; the default branch without' },
    to: { type: 'string', value: 'FOLDER', summary: 'folder of the repository that the files are put into' },
    delete: { type: 'strings', value: 'PATH', summary: 'path in the repository to delete' },
    'expected-head': {
      type: 'string',
      value: 'COMMIT',
      summary: 'only if the branch is still there; none: only if there is no such branch',
    },
    deploy: { type: 'boolean', on: true, summary: 'deploy when the branch is one that deploys (--no-deploy)' },
    ...DETACH,
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const { message, branch, from, 'expected-head': head } = flags;
    if (message === undefined) throw usageError('the message is missing', "give it with -m 'What changes, and why'");
    const files: FileChange[] = [
      ...(await Promise.all(args.files.map((file) => fileChange(context, file, flags.to)))),
      ...flags.delete.map((path): FileChange => ({ path, delete: true })),
    ];
    if (files.length === 0) throw usageError('nothing to commit is given', 'name files, or paths with --delete');
    const reply = await (
      await context.api()
    ).commitRepoFiles(await context.project(), args.repo, {
      message,
      files,
      ...(branch === undefined ? {} : { branch }),
      ...(from === undefined ? {} : { from }),
      ...(head === undefined ? {} : { expected_head: head === 'none' ? null : head }),
      ...(flags.deploy ? {} : { deploy: false }),
    });
    context.out.data(reply, () => reply.commit.id);
    if (!reply.changed) context.out.note(`${reply.branch} has these files already: no commit was made`);
    await followDeploys(context, reply, flags.detach);
  },
});

const fileChange = async (context: Context, given: string, to = ''): Promise<FileChange> => {
  const full = context.path(given);
  const below = relative(context.io.cwd, full);
  if (below === '' || isAbsolute(below) || below.split(sep)[0] === '..')
    throw usageError(`${given} is not below the current folder`, 'change to the folder that holds it');
  const found = await lstat(full).catch((cause: unknown) => {
    throw localError(`${given} cannot be read`, 'name files that exist; --delete is for paths to delete', cause);
  });
  if (!found.isFile())
    throw usageError(`${given} is a ${found.isDirectory() ? 'folder' : 'link or no file'}`, 'name each file itself');
  const content = await readFile(full);
  const encoded = isUtf8(content)
    ? { content: content.toString('utf8') }
    : { content: content.toString('base64'), encoding: 'base64' as const };
  return { path: posix.join(to, ...below.split(sep)), ...encoded, executable: (found.mode & 0o111) !== 0 };
};

/** The commit is made, and printed, whatever becomes of them: the first failure is thrown at the end. */
const followDeploys = async (context: Context, { deploys }: CommittedFiles, detach: boolean): Promise<void> => {
  const failures: CliFailure[] = [];
  for (const { service, operation_id: id, service_url: url, error } of deploys) {
    if (error !== null) failures.push(new CliFailure(error));
    if (id === null) continue;
    context.out.note(`deploying ${service}: ${id}`);
    if (detach) continue;
    try {
      await followOperation(context, id, { logs: true });
      context.out.note(`live at ${url ?? 'its address'}`);
    } catch (thrown) {
      if (!(thrown instanceof CliFailure) || context.io.signal.aborted) throw thrown;
      failures.push(thrown);
    }
  }
  if (failures[0] !== undefined) throw failures[0];
};
