import { basename } from 'node:path';
import { isName, NAME_RULE } from '#kernel/schema';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { nameFromFolder, readFolderConfig, writeFolderConfig } from '../settings/folder.ts';

export const init = defineCommand({
  name: 'init',
  summary: 'Remember project and service for a folder',
  details: [
    'Writes .service/config.json, which every command finds from the folder and those below it. It holds names only: commit it, or not.',
  ],
  examples: [
    { line: 'berth init', says: 'asks for the names, or takes them from the folder' },
    { line: 'berth init -p shop -s web', says: 'without questions' },
  ],
  scope: 'service',
  args: { dir: { summary: 'folder (default: this one)', optional: true, complete: 'directory' } },
  flags: {},
  run: async (context, { args }) => {
    const folder = context.path(args.dir ?? '.');
    const before = await readFolderConfig(folder);
    const project =
      context.given.project ?? (await choose(context, 'project', before?.project ?? nameFromFolder(basename(folder))));
    const service = context.given.service ?? (await choose(context, 'service', before?.service ?? 'web'));
    await writeFolderConfig(folder, { project, service });
    context.out.data(
      { project, service, folder },
      () => `${folder} deploys to service ${service} of project ${project}`,
    );
  },
});

const choose = async (context: Context, what: 'project' | 'service', proposal: string | undefined): Promise<string> => {
  const asked = context.io.interactive
    ? (await context.io.ask(`${what}${proposal === undefined ? '' : ` [${proposal}]`}: `)).trim()
    : '';
  const name = asked === '' ? proposal : asked;
  if (name !== undefined && isName(name)) return name;
  throw usageError(
    name === undefined ? `no ${what} is given` : `"${name}" is no valid name`,
    `${NAME_RULE}; or give --${what} NAME`,
  );
};
