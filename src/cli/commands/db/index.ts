import { defineGroup } from '../../command.ts';
import { backup, backupInfo, backups, deleteBackup, download, restore, undo } from './backups.ts';
import { query, tables } from './console.ts';
import { add, fork, info, ls, remove, restart, rotate, set } from './lifecycle.ts';
import { shell, tunnel } from './tunnel.ts';

export const db = defineGroup({
  name: 'db',
  summary: 'Datastores: make, look into, back up, restore',
  commands: [
    add,
    ls,
    info,
    query,
    shell,
    tunnel,
    tables,
    backup,
    backups,
    backupInfo,
    restore,
    undo,
    fork,
    download,
    rotate,
    set,
    restart,
    deleteBackup,
    remove,
  ],
  fallback: 'ls',
});
