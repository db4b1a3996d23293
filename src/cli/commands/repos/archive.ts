import { defineCommand } from '../../command.ts';
import { bytes } from '../../output/format.ts';
import { inert } from '../../output/style.ts';
import { saveBody } from '../../save.ts';
import { REPO } from './manage.ts';

const REF = {
  ref: { type: 'string', value: 'REF', summary: 'branch, tag or commit; the default branch without' },
} as const;

export const archive = defineCommand({
  name: 'archive',
  summary: 'Download the files of a commit as a tar',
  examples: [
    { line: 'berth repos archive web', says: 'the default branch, as web.tar.gz' },
    { line: 'berth repos archive web site.tar --ref v1.2 --path site', says: 'a folder as of a tag, not compressed' },
  ],
  scope: 'project',
  operations: ['getRepoArchive'],
  args: {
    ...REPO,
    file: { summary: 'file to write; a name that ends in .tar is not compressed', optional: true, complete: 'file' },
  },
  flags: { ...REF, path: { type: 'string', value: 'FOLDER', summary: 'only this folder' } },
  run: async (context, { args, flags: { ref, path } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const file = context.path(args.file ?? `${args.repo}.tar.gz`);
    const response = await api.getRepoArchive(project, args.repo, {
      format: file.endsWith('.tar') ? 'tar' : 'tar.gz',
      ...(ref === undefined ? {} : { ref }),
      ...(path === undefined ? {} : { path }),
    });
    const size = await saveBody(context, response, file);
    context.out.data({ file, bytes: size }, () => `${file}: ${bytes(size)}`);
  },
});

export const readme = defineCommand({
  name: 'readme',
  summary: 'Show the README of a repository or of one of its folders',
  examples: [
    { line: 'berth repos readme web', says: 'of the root' },
    { line: 'berth repos readme web packages/ui --ref next', says: 'of a folder, on another branch' },
  ],
  scope: 'project',
  operations: ['getRepoReadme'],
  args: { ...REPO, path: { summary: 'folder; the root without', optional: true } },
  flags: REF,
  run: async (context, { args, flags: { ref } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await api.getRepoReadme(project, args.repo, {
      ...(ref === undefined ? {} : { ref }),
      ...(args.path === undefined ? {} : { path: args.path }),
    });
    context.out.data(reply, () =>
      reply.content
        .split('\n')
        .map((line) => inert(line.replaceAll('\t', '    '), false))
        .join('\n'),
    );
    if (reply.next_offset !== null)
      context.out.note(`cut; the whole of it: berth repos show ${args.repo} ${reply.path}`);
  },
});
