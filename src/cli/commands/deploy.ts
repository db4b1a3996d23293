import { basename } from 'node:path';
import type { Operation } from '#modules/operations';
import type { Api } from '../client/api.ts';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { CliFailure, interrupted, usageError } from '../failure.ts';
import { settle } from '../follow.ts';
import { findFolderConfig, nameFromFolder, writeFolderConfig, type FolderConfig } from '../settings/folder.ts';
import { DRY_RUN } from './flags.ts';
import { showPlan } from './plan-view.ts';
import { createUpload, prepareSource } from './source.ts';

export const deploy = defineCommand({
  name: 'deploy',
  summary: 'Build a source directory on the server and make it live',
  details: [
    'Uploads the directory (without .git, node_modules, .service, __pycache__, .venv and what .serviceignore lists), follows the build and the rollout, and prints the live URL. A failed deploy leaves the old release serving. Ctrl-C leaves the deploy running.',
    'Project and service are remembered in .service/config.json. Without any, the project gets the name of the folder, and the service the name web; a project that is missing is created.',
    'With JSON, each line of stdout is an object of the API: the accepted operation, the events of its stream with their kind as "event", and last the finished operation.',
  ],
  examples: [
    { line: 'berth deploy', says: 'deploy this folder' },
    { line: 'berth deploy ./api -p shop -s api', says: 'deploy another folder as service api of project shop' },
    { line: 'berth deploy --detach --json', says: 'upload, then return with the operation id' },
  ],
  scope: 'service',
  operations: ['createDeploy'],
  args: { dir: { summary: 'source directory (default: this one)', optional: true, complete: 'directory' } },
  flags: {
    detach: { type: 'boolean', short: 'd', summary: 'return once the upload is accepted' },
    follow: { type: 'boolean', on: true, summary: 'wait for the end without showing the build log' },
    cache: { type: 'boolean', on: true, summary: 'build every step anew' },
    commit: { type: 'string', value: 'SHA', summary: 'commit that the source was taken from, shown with the release' },
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const folder = context.path(args.dir ?? '.');
    const target = await chooseTarget(context, folder);
    const tree = await prepareSource(context, folder);
    const api = await context.api();
    if (flags['dry-run']) return showPlan(context, { ...target, tree });
    await ensureProject(context, api, target);
    const upload = await createUpload(context, tree);
    const accepted = await api
      .deploy(target.project, target.service, {
        stream: upload.stream,
        no_cache: flags.cache ? undefined : true,
        commit: flags.commit,
      })
      .catch((thrown: unknown) => {
        if (context.io.signal.aborted) throw interrupted('the upload was stopped', 'nothing was deployed');
        throw thrown;
      })
      .finally(() => upload.end());
    await remember(context, folder, target);
    context.out.note(`${target.service} of ${target.project}: ${accepted.operation_id}`);
    await settle(context, accepted, { detach: flags.detach, logs: flags.follow, done: urlOf });
    return undefined;
  },
});

const urlOf = (operation: Operation): string => operation.service_url ?? operation.operation_id;

export interface Target {
  project: string;
  service: string;
  /** Whether the project's name is a guess from the folder's. */
  guessed: boolean;
  remembered: FolderConfig | undefined;
}

/** Flags, then what the folder remembers, then names made of the folder's own. */
export const chooseTarget = async (context: Context, folder: string): Promise<Target> => {
  const remembered = (await findFolderConfig(folder))?.config;
  const known = context.given.project ?? remembered?.project;
  const project = known ?? nameFromFolder(basename(folder));
  if (project === undefined)
    throw usageError('no project is set, and the name of the folder makes no name', 'give --project NAME');
  return {
    project,
    service: context.given.service ?? remembered?.service ?? 'web',
    guessed: known === undefined,
    remembered,
  };
};

const ensureProject = async (context: Context, api: Api, { project, guessed }: Target): Promise<void> => {
  try {
    await api.getProject(project);
  } catch (thrown) {
    if (!(thrown instanceof CliFailure) || thrown.body.code !== 'NOT_FOUND') throw thrown;
    const { created } = await api.createProject(project);
    if (created) context.out.note(`project ${project} created`);
    return;
  }
  // A folder that happens to be called like somebody's project must not deploy into it.
  if (guessed)
    throw usageError(
      `the project ${project} exists already, and this folder was never deployed to it`,
      `deploy into it with -p ${project}, or give another name`,
    );
};

/** The deploy is under way by now, and goes on whether the folder can be written or not. */
const remember = async ({ out }: Context, folder: string, { project, service, remembered }: Target): Promise<void> => {
  if (remembered?.project !== undefined) return;
  try {
    await writeFolderConfig(folder, { project, service });
  } catch (thrown) {
    if (!(thrown instanceof CliFailure)) throw thrown;
    out.warn(`${thrown.message}; next time, name the target: -p ${project} -s ${service}`);
  }
};
