import { defineGroup } from '../../command.ts';
import { create, link, ls, mirror, remove } from './manage.ts';

export const repos = defineGroup({
  name: 'repos',
  summary: 'Git repositories: make, link to a service, mirror, look into',
  commands: [create, ls, link, mirror, remove],
  fallback: 'ls',
});
