import { readFile } from 'node:fs/promises';
import { ENV_NAME_PATTERN } from '#kernel/schema';
import type { SetEnv } from '#modules/env';
import { readPages } from '../client/pages.ts';
import { defineCommand, defineGroup } from '../command.ts';
import type { Context } from '../context.ts';
import { parseDotenv } from '../dotenv.ts';
import { usageError } from '../failure.ts';
import { followOperation } from '../follow.ts';
import { age } from '../output/format.ts';
import { DETACH, DRY_RUN, PAGING } from './flags.ts';

const set = defineCommand({
  name: 'set',
  summary: 'Set variables; the services of the project are restarted without an outage',
  details: [
    'Values on the command line end up in the history of the shell: for secrets use --file, or --file - for standard input.',
  ],
  examples: [
    { line: 'berth env set LOG_LEVEL=debug', says: 'one variable' },
    { line: 'berth env set --file .env.production', says: 'all of a file, with quotes and values over several lines' },
    { line: 'pass show shop/env | berth env set --file -', says: 'from another program' },
  ],
  scope: 'project',
  operations: ['setEnv'],
  args: { pairs: { summary: 'NAME=value', variadic: true, optional: true } },
  flags: {
    ...DETACH,
    ...DRY_RUN,
    file: {
      type: 'string',
      short: 'f',
      value: 'FILE',
      complete: 'file',
      summary: 'read variables from a .env file; - is standard input',
    },
  },
  run: async (context, { args, flags }) => {
    const fromFile = flags.file === undefined ? {} : parseDotenv(await readText(context, flags.file));
    const values = { ...fromFile, ...Object.fromEntries(args.pairs.map(readPair)) };
    if (Object.keys(values).length === 0)
      throw usageError('no variable is given', 'write: berth env set NAME=value, or give --file FILE');
    await apply(context, values, flags.detach);
  },
});

const unset = defineCommand({
  name: 'unset',
  summary: 'Remove variables; the services of the project are restarted without an outage',
  examples: [{ line: 'berth env unset LOG_LEVEL', says: 'one variable' }],
  scope: 'project',
  operations: ['setEnv'],
  args: { names: { summary: 'names to remove', variadic: true } },
  flags: { ...DETACH, ...DRY_RUN },
  run: (context, { args, flags }) =>
    apply(context, Object.fromEntries(args.names.map((name) => [checkName(name), null])), flags.detach),
});

const ls = defineCommand({
  name: 'ls',
  summary: 'List the names of the variables; values are never shown',
  examples: [{ line: 'berth env ls -p shop', says: 'names, and who set them when' }],
  scope: 'project',
  operations: ['listEnv'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await readPages(flags, ['env', 'names'], (page) => api.listEnv(project, page));
    context.out.list(reply, reply.env, {
      columns: [
        { title: 'NAME', value: (row) => row.name },
        { title: 'SET', value: (row) => age(row.updated_at, Date.now()) },
        { title: 'BY', value: (row) => row.updated_by, flexible: true },
      ],
      empty: 'no variable is set',
    });
    const given = Object.entries(Object.groupBy(reply.injected, ({ datastore }) => datastore));
    for (const [datastore, names = []] of given)
      context.out.note(`from datastore ${datastore}: ${names.map(({ name }) => name).join(', ')}`);
  },
});

export const env = defineGroup({
  name: 'env',
  summary: 'Set, list and remove environment variables',
  commands: [set, ls, unset],
  fallback: 'ls',
});

const readText = async (context: Context, file: string): Promise<string> =>
  file === '-' ? context.io.readStdin() : readFile(context.path(file), 'utf8');

const ENV_NAME = new RegExp(ENV_NAME_PATTERN);

const checkName = (name: string): string => {
  if (ENV_NAME.test(name)) return name;
  throw usageError(`"${name}" is no name of a variable`, 'letters, digits and underscores, not beginning with a digit');
};

const readPair = (pair: string): [string, string] => {
  const equals = pair.indexOf('=');
  // The text is not repeated: it may be a secret whose name was forgotten.
  if (equals < 1)
    throw usageError(
      'an argument is no NAME=value',
      'write: berth env set NAME=value; to remove one: berth env unset NAME',
    );
  return [checkName(pair.slice(0, equals)), pair.slice(equals + 1)];
};

const apply = async (context: Context, values: Record<string, string | null>, detach: boolean): Promise<void> => {
  const reply = await (await context.api()).setEnv(await context.project(), values);
  context.out.data(reply, () => changed(reply));
  if (detach) return;
  for (const { service, operation_id: id } of reply.operations) {
    context.out.note(`restarting ${service}`);
    await followOperation(context, id, { logs: true });
  }
};

const changed = (reply: SetEnv): string => {
  const parts = [
    reply.set.length === 0 ? [] : [`set ${reply.set.join(', ')}`],
    reply.unset.length === 0 ? [] : [`removed ${reply.unset.join(', ')}`],
  ].flat();
  return parts.length === 0 ? 'nothing changed' : parts.join('; ');
};
