import type { Check } from './check.ts';
import { dataDir, disk, docker, firewall, git, images, limits, memory, sqlite } from './machine.ts';
import { ports } from './ports.ts';
import { backups } from './backups.ts';
import { clock, dns, health, token, version } from './service.ts';

/** Every check, in the order in which people mend things. */
export const CHECKS: readonly Check[] = [
  docker,
  limits,
  firewall,
  memory,
  disk,
  dataDir,
  sqlite,
  git,
  images,
  ...ports,
  dns,
  health,
  token,
  version,
  backups,
  clock,
];
