import { readPages } from '../../client/pages.ts';
import { defineCommand } from '../../command.ts';
import type { Context } from '../../context.ts';
import { settle, settleReply } from '../../follow.ts';
import { usageError } from '../../failure.ts';
import { age, bytes } from '../../output/format.ts';
import type { CreatedDatastore, DatastoreDetail } from '#modules/datastores';
import { DETACH, DRY_RUN, PAGING, YES } from '../flags.ts';
import { DATASTORE, LIMITS, limitsOf } from './args.ts';

export const add = defineCommand({
  name: 'add',
  summary: 'Make a datastore; every service of the project is given its variables',
  details: [
    'Without --name it has the name of its kind, and gives DATABASE_URL and PG* (postgres), REDIS_URL (redis) or MONGO_URL (mongo). Another name gives <NAME>_URL. Services that run restart one replica after the other. Adding one that exists is no error.',
  ],
  examples: [
    { line: 'berth db add postgres', says: 'DATABASE_URL, PGHOST … for all services' },
    { line: 'berth db add redis --name cache --memory 256', says: 'CACHE_URL' },
  ],
  scope: 'project',
  operations: ['createDatastore'],
  args: { kind: { summary: 'what it is', choices: ['postgres', 'redis', 'mongo'] } },
  flags: {
    name: { type: 'string', value: 'NAME', summary: 'name of the datastore; its kind without' },
    version: { type: 'string', value: 'V', summary: 'major version; the newest without' },
    ...LIMITS,
    ...DETACH,
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const reply = await (
      await context.api()
    ).createDatastore(await context.project(), {
      kind: args.kind as CreatedDatastore['kind'],
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...(flags.version === undefined ? {} : { version: flags.version }),
      ...limitsOf(flags),
    });
    await settleCreation(context, reply, flags.detach);
  },
});

export const fork = defineCommand({
  name: 'fork',
  summary: 'Make another datastore from a backup, to look at or to work with',
  examples: [
    { line: 'berth db fork postgres staging-db', says: 'from the newest verified backup' },
    { line: 'berth db fork postgres old --key bkp_01jd3kq2m5abcdefghjk', says: 'from a certain one' },
  ],
  scope: 'project',
  operations: ['forkDatastore'],
  args: { ...DATASTORE, name: { summary: 'name of the new datastore' } },
  flags: {
    key: { type: 'string', value: 'KEY', summary: 'backup to use; the newest verified one without' },
    ...LIMITS,
    ...DETACH,
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const reply = await (
      await context.api()
    ).forkDatastore(await context.project(), args.datastore, {
      name: args.name,
      ...(flags.key === undefined ? {} : { key: flags.key }),
      ...limitsOf(flags),
    });
    await settleCreation(context, reply, flags.detach);
  },
});

const settleCreation = async (context: Context, reply: CreatedDatastore, detach: boolean): Promise<void> => {
  const { operation_id: id, stream_url: stream } = reply;
  if (id === null || stream === null) {
    context.out.data(reply, () => `${reply.name} exists already, with ${reply.variables.join(', ')}`);
    return;
  }
  const services = reply.restarted_services.length === 0 ? '' : `; restarting ${reply.restarted_services.join(', ')}`;
  await settle(
    context,
    { operation_id: id, stream_url: stream, service_url: null },
    { detach, logs: true, done: () => `${reply.name} is ready: ${reply.variables.join(', ')}${services}` },
  );
};

export const ls = defineCommand({
  name: 'ls',
  summary: 'List the datastores of a project',
  examples: [{ line: 'berth db ls -p shop', says: 'with status, size and last backup' }],
  scope: 'project',
  operations: ['listDatastores'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await readPages(flags, ['datastores'], (page) => api.listDatastores(project, page));
    const now = Date.now();
    context.out.list(reply, reply.datastores, {
      columns: [
        { title: 'DATASTORE', value: (row) => row.name },
        { title: 'KIND', value: (row) => `${row.kind} ${row.version}` },
        { title: 'STATUS', value: (row) => (row.read_only ? `${row.status}, read-only` : row.status) },
        { title: 'SIZE', value: (row) => (row.used_bytes === null ? null : bytes(row.used_bytes)), align: 'right' },
        {
          title: 'LAST BACKUP',
          value: (row) =>
            row.last_backup === null ? 'none' : `${row.last_backup.status} ${age(row.last_backup.started_at, now)} ago`,
        },
        { title: 'VARIABLES', value: (row) => row.variables.join(','), flexible: true },
      ],
      empty: 'no datastore yet: berth db add postgres',
    });
  },
});

export const info = defineCommand({
  name: 'info',
  summary: 'Show a datastore: where it is, its limits, its backups',
  examples: [{ line: 'berth db info postgres', says: 'status, variables, size, next backup' }],
  scope: 'project',
  operations: ['getDatastore'],
  args: DATASTORE,
  flags: {},
  run: async (context, { args }) => {
    const detail = await (await context.api()).getDatastore(await context.project(), args.datastore);
    context.out.data(detail, () => infoText(detail, Date.now()));
  },
});

const infoText = (detail: DatastoreDetail, now: number): string => {
  const { last_backup: last, kept } = detail;
  const facts: [string, string][] = [
    ['status', `${detail.status}${detail.answering === false ? ', does not answer' : ''}`],
    ['kind', `${detail.kind} ${detail.version}`],
    ['address', `${detail.host}:${detail.port}, from services of ${detail.project} only`],
    ['variables', detail.variables.join(', ')],
    ['limits', `${detail.memory_mb} MB, ${detail.cpus} CPU`],
    [
      'storage',
      `${detail.used_bytes === null ? 'not measured yet' : bytes(detail.used_bytes)}${detail.storage_limit_mb === null ? '' : ` of ${detail.storage_limit_mb} MB`}${detail.read_only ? ', read-only' : ''}`,
    ],
    ['backup', last === null ? 'none yet' : `${last.key} ${last.status}, ${age(last.started_at, now)} ago`],
    ['next', detail.next_backup_at ?? 'none planned'],
    ['rotated', detail.rotated_at ?? 'never'],
  ];
  if (kept !== null) facts.push(['kept', `data from before ${kept.restored_at}, until ${kept.until}: berth db undo`]);
  return `${detail.project}/${detail.name}\n${facts.map(([name, value]) => `  ${name.padEnd(10)} ${value}`).join('\n')}\n`;
};

export const set = defineCommand({
  name: 'set',
  summary: 'Change the limits of a datastore; memory and CPU restart it',
  examples: [{ line: 'berth db set postgres --memory 1024', says: '1 GiB; apps reconnect' }],
  scope: 'project',
  operations: ['updateDatastore'],
  args: DATASTORE,
  flags: {
    ...LIMITS,
    'no-limit': { type: 'boolean', summary: 'take the storage limit away' },
    ...DETACH,
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const body = { ...limitsOf(flags), ...(flags['no-limit'] ? { storage_limit_mb: null } : {}) };
    if (Object.keys(body).length === 0)
      throw usageError('nothing to change is given', 'give --memory, --cpus, --storage or --no-limit');
    const reply = await (await context.api()).updateDatastore(await context.project(), args.datastore, body);
    await settleReply(context, reply, { detach: flags.detach, done: `${args.datastore} is changed` });
  },
});

export const restart = defineCommand({
  name: 'restart',
  summary: 'Restart a datastore on the newest image of its version; apps reconnect',
  examples: [{ line: 'berth db restart postgres', says: 'such as for a minor upgrade' }],
  scope: 'project',
  operations: ['restartDatastore'],
  args: DATASTORE,
  flags: { ...DETACH, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    const reply = await (await context.api()).restartDatastore(await context.project(), args.datastore);
    await settleReply(context, reply, { detach: flags.detach, done: `${args.datastore} is restarted` });
  },
});

export const rotate = defineCommand({
  name: 'rotate',
  summary: 'Give the services a new credential, replica by replica, then void the old one',
  examples: [{ line: 'berth db rotate postgres', says: 'without an outage' }],
  scope: 'project',
  operations: ['rotateDatastore'],
  args: DATASTORE,
  flags: { ...DETACH, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    const reply = await (await context.api()).rotateDatastore(await context.project(), args.datastore);
    await settleReply(context, reply, { detach: flags.detach, done: `the credential of ${args.datastore} is rotated` });
  },
});

export const remove = defineCommand({
  name: 'delete',
  summary: 'Delete a datastore with its data; its backups stay until their time is over',
  examples: [{ line: 'berth db delete postgres', says: 'asks for the name, and makes a final backup first' }],
  scope: 'project',
  operations: ['deleteDatastore'],
  args: DATASTORE,
  flags: {
    'final-backup': { type: 'boolean', on: true, summary: 'make a last, verified backup first (--no-final-backup)' },
    ...YES,
    ...DETACH,
    ...DRY_RUN,
  },
  run: async (context, { args, flags }) => {
    const backup = flags['final-backup'];
    await context.confirm(
      `This deletes datastore ${args.datastore} and all its data${backup ? ', after a final backup' : ', without a backup'}`,
      args.datastore,
      flags.yes,
    );
    const reply = await (await context.api()).deleteDatastore(await context.project(), args.datastore, backup);
    await settleReply(context, reply, { detach: flags.detach, done: `${args.datastore} is deleted` });
  },
});
