import { defineGroup } from '../../command.ts';
import { archive, readme } from './archive.ts';
import { commit } from './commit.ts';
import { compare, diff, refs } from './history.ts';
import { info, log, show, tree } from './look.ts';
import { create, link, ls, remove } from './manage.ts';
import { mirror, set, sync } from './mirror.ts';

export const repos = defineGroup({
  name: 'repos',
  summary: 'Git repositories: make, link to a service, mirror, look into, commit to',
  commands: [
    create,
    ls,
    info,
    link,
    set,
    refs,
    log,
    diff,
    compare,
    tree,
    show,
    readme,
    archive,
    commit,
    mirror,
    sync,
    remove,
  ],
  fallback: 'ls',
});
