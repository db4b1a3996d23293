import { defineCommand } from '../command.ts';
import { chooseTarget } from './deploy.ts';
import { showPlan } from './plan-view.ts';
import { prepareSource } from './source.ts';

export const plan = defineCommand({
  name: 'plan',
  summary: 'Show how a source directory would be built, and why',
  details: [
    'Uploads the source and has the server plan the deploy: what detected it, the versions with their reasons, the commands. Nothing is built or changed. Without a server that answers, or for a project that is not there yet, this client plans by itself, without the variables of a project.',
    'The JSON is that of the dry run: `{dry_run, plan: {summary, changes}}`. The change of the `release` has `build`, with the keys `provider`, `framework`, `root`, `versions` (a list of `tool`, `version`, `reason`), `package_manager` (null, or `name`, `version`, `lock_file`, `reason`), `install`, `build`, `start`, `release_command`, `apt` (`build`, `run`), `static_root`, `decisions` and `warnings`. Keys may come, and none goes.',
  ],
  examples: [
    { line: 'berth plan', says: 'how would this folder be built?' },
    { line: 'berth plan ./api --json', says: 'the same as JSON, for another folder' },
  ],
  scope: 'service',
  operations: ['createDeploy'],
  args: { dir: { summary: 'source directory (default: this one)', optional: true, complete: 'directory' } },
  flags: {},
  run: async (context, { args }) => {
    const folder = context.path(args.dir ?? '.');
    const { project, service } = await chooseTarget(context, folder);
    await showPlan(context, { project, service, tree: await prepareSource(context, folder) });
  },
});
