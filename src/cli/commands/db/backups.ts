import { readPages } from '../../client/pages.ts';
import { defineCommand } from '../../command.ts';
import { settle, settleReply } from '../../follow.ts';
import { factLines } from '../../output/facts.ts';
import { age, bytes, duration } from '../../output/format.ts';
import { saveBody } from '../../save.ts';
import type { Backup } from '#modules/datastores';
import { DETACH, DRY_RUN, PAGING, YES } from '../flags.ts';
import { DATASTORE } from './args.ts';

export const backup = defineCommand({
  name: 'backup',
  summary: 'Back up a datastore now, and prove that the backup restores',
  examples: [{ line: 'berth db backup postgres', says: 'returns once the backup is verified' }],
  scope: 'project',
  operations: ['createBackup'],
  args: DATASTORE,
  flags: { ...DETACH, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    const reply = await (await context.api()).createBackup(await context.project(), args.datastore);
    await settle(context, reply, { detach: flags.detach, logs: true, done: () => `${reply.key} is verified` });
  },
});

export const backups = defineCommand({
  name: 'backups',
  summary: 'List the backups of a datastore, newest first; those of a deleted one too',
  examples: [{ line: 'berth db backups postgres', says: 'with what is in them and when they were verified' }],
  scope: 'project',
  operations: ['listBackups'],
  args: DATASTORE,
  flags: PAGING,
  run: async (context, { args, flags }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await readPages(flags, ['backups'], (page) => api.listBackups(project, args.datastore, page));
    const now = Date.now();
    context.out.list(reply, reply.backups, {
      columns: [
        { title: 'KEY', value: (row) => row.key },
        { title: 'STATUS', value: (row) => row.status },
        { title: 'CAUSE', value: (row) => row.cause },
        { title: 'AGE', value: (row) => age(row.started_at, now), align: 'right' },
        { title: 'ROWS', value: (row) => row.rows, align: 'right' },
        { title: 'SIZE', value: (row) => (row.bytes === null ? null : bytes(row.bytes)), align: 'right' },
        {
          title: 'TOOK',
          value: (row) => (row.duration_ms === null ? null : duration(row.duration_ms)),
          align: 'right',
        },
        { title: 'WHERE', value: (row) => `${row.places.join('+')}${row.encrypted ? ', encrypted' : ''}` },
        { title: 'KEPT UNTIL', value: keptUntil },
        { title: 'ERROR', value: (row) => row.error?.message, flexible: true },
      ],
      empty: `no backup yet: berth db backup ${args.datastore}`,
    });
  },
});

/** The newest verified one of a datastore stays until another takes its place. */
const keptUntil = ({ expires_at: at, status }: Backup): string | null =>
  at === null ? (status === 'verified' ? 'the next' : null) : at.slice(0, 10);

export const download = defineCommand({
  name: 'download',
  summary: 'Write a backup to a file, decrypted: a pg_dump archive or an RDB file',
  examples: [
    { line: 'berth db download postgres bkp_01jd3kq2m5abcdefghjk shop.dump', says: 'then: pg_restore -l shop.dump' },
  ],
  scope: 'project',
  operations: ['downloadBackup'],
  args: {
    ...DATASTORE,
    key: { summary: 'key of the backup' },
    file: { summary: 'file to write', complete: 'file' },
  },
  flags: {},
  run: async (context, { args }) => {
    const api = await context.api();
    const response = await api.downloadBackup(await context.project(), args.datastore, args.key);
    const file = context.path(args.file);
    const size = await saveBody(context, response, file);
    context.out.data({ file, bytes: size }, () => `${file}: ${bytes(size)}`);
  },
});

export const backupInfo = defineCommand({
  name: 'backup-info',
  summary: 'Show one backup: what is in it, where it is, when it was verified',
  examples: [{ line: 'berth db backup-info postgres bkp_01jd3kq2m5abcdefghjk', says: 'can it be relied on?' }],
  scope: 'project',
  operations: ['getBackup'],
  args: { ...DATASTORE, key: { summary: 'key of the backup' } },
  flags: {},
  run: async (context, { args }) => {
    const row = await (await context.api()).getBackup(await context.project(), args.datastore, args.key);
    context.out.data(row, () => factLines(row).join('\n'));
  },
});

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore a backup beside the live data, check it, and swap both (postgres)',
  details: ['The data of before is kept for a day (--keep), and berth db undo swaps it back.'],
  examples: [{ line: 'berth db restore postgres bkp_01jd3kq2m5abcdefghjk', says: 'apps reconnect at the swap' }],
  scope: 'project',
  operations: ['restoreBackup'],
  args: { ...DATASTORE, key: { summary: 'key of the backup' } },
  flags: {
    keep: {
      type: 'number',
      value: 'HOURS',
      integer: true,
      min: 0,
      summary: 'how long the data of before is kept (24)',
    },
    ...YES,
    ...DETACH,
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    await context.confirm(
      `This replaces the data of ${args.datastore} by backup ${args.key}`,
      args.datastore,
      flags.yes,
    );
    const keep = flags.keep === undefined ? {} : { keep_hours: flags.keep };
    const body = { key: args.key, ...keep };
    const reply = await (await context.api()).restoreBackup(await context.project(), args.datastore, body);
    await settleReply(context, reply, { detach: flags.detach, done: `${args.datastore} is restored to ${args.key}` });
  },
});

export const undo = defineCommand({
  name: 'undo',
  summary: 'Swap back the data that the last restore replaced',
  examples: [{ line: 'berth db undo postgres', says: 'undoing twice is back at the restored data' }],
  scope: 'project',
  operations: ['undoRestore'],
  args: DATASTORE,
  flags: { ...YES, ...DETACH, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    await context.confirm(
      `This swaps the data of ${args.datastore} with that of before the restore`,
      args.datastore,
      flags.yes,
    );
    const reply = await (await context.api()).undoRestore(await context.project(), args.datastore);
    await settleReply(context, reply, { detach: flags.detach, done: `${args.datastore} is as before the restore` });
  },
});

export const deleteBackup = defineCommand({
  name: 'delete-backup',
  summary: 'Delete a backup',
  examples: [{ line: 'berth db delete-backup postgres bkp_01jd3kq2m5abcdefghjk', says: 'wherever it is kept' }],
  scope: 'project',
  operations: ['deleteBackup'],
  args: { ...DATASTORE, key: { summary: 'key of the backup' } },
  flags: { ...YES, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    await context.confirm(`This deletes backup ${args.key} of ${args.datastore}`, args.key, flags.yes);
    const reply = await (await context.api()).deleteBackup(await context.project(), args.datastore, args.key);
    context.out.data(reply, () => `${args.key} is deleted`);
  },
});
