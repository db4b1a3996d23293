import { defineGroup } from '../../command.ts';
import { commit } from './commit.ts';
import { info, log, show, tree } from './look.ts';
import { create, link, ls, remove } from './manage.ts';
import { mirror, set, sync } from './mirror.ts';

export const repos = defineGroup({
  name: 'repos',
  summary: 'Git repositories: make, link to a service, mirror, look into, commit to',
  commands: [create, ls, info, link, set, log, tree, show, commit, mirror, sync, remove],
  fallback: 'ls',
});
