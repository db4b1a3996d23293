import { readPages } from '../../client/pages.ts';
import { defineCommand } from '../../command.ts';
import type { Out } from '../../output/out.ts';
import { bytes, count, duration } from '../../output/format.ts';
import { table } from '../../output/table.ts';
import type { QueryReply } from '#modules/datastores';
import { PAGING } from '../flags.ts';
import { DATASTORE } from './args.ts';

export const tables = defineCommand({
  name: 'tables',
  summary: 'List tables, Redis keys or collections',
  examples: [
    { line: 'berth db tables postgres', says: 'with rows (estimated) and size' },
    { line: "berth db tables redis --match 'session:*'", says: 'keys with type and time to live' },
  ],
  scope: 'project',
  operations: ['listDatastoreTables'],
  args: DATASTORE,
  flags: {
    match: { type: 'string', value: 'TEXT', summary: 'part of the name; for redis a glob such as user:*' },
    ...PAGING,
  },
  run: async (context, { args, flags: { match, ...paging } }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await readPages(paging, ['tables'], (page) =>
      api.listTables(project, args.datastore, { ...page, match }),
    );
    context.out.list(reply, reply.tables, {
      columns: [
        { title: 'NAME', value: (row) => (row.schema === undefined ? row.name : `${row.schema}.${row.name}`) },
        { title: 'TYPE', value: (row) => row.type },
        { title: 'ROWS', value: (row) => (row.row_estimate === -1 ? '?' : row.row_estimate), align: 'right' },
        {
          title: 'SIZE',
          value: (row) => (row.size_bytes === undefined ? null : bytes(row.size_bytes)),
          align: 'right',
        },
        { title: 'EXPIRES', value: (row) => (typeof row.ttl_seconds === 'number' ? `${row.ttl_seconds} s` : null) },
        {
          title: 'COLUMNS',
          value: (row) => row.columns?.map((column) => `${column.name} ${column.type}`).join(', '),
          flexible: true,
        },
      ],
      empty: 'nothing there',
    });
  },
});

export const query = defineCommand({
  name: 'query',
  summary: 'Run one SQL statement, Redis command or Mongo command',
  details: [
    'It only reads, unless the token holds manage_datastores too. At most 500 rows come back. Every query is an event of the project.',
  ],
  examples: [
    { line: "berth db query postgres 'select * from users where id = $1' --param 42", says: 'as a table' },
    { line: "berth db query redis 'HGETALL user:42' --json", says: 'as JSON' },
    { line: 'berth db query mongo \'{"find": "users", "limit": 5}\'', says: 'one command' },
    { line: 'berth db query postgres - < report.sql', says: 'the statement from standard input' },
  ],
  scope: 'project',
  operations: ['queryDatastore'],
  args: { ...DATASTORE, statement: { summary: 'the statement; - reads it from standard input' } },
  flags: {
    param: { type: 'strings', value: 'VALUE', summary: 'value of $1, $2 …, as JSON or text; repeat it' },
    'read-only': { type: 'boolean', summary: 'refuse writes although the token may write' },
    limit: { type: 'number', value: 'N', integer: true, min: 1, summary: 'rows at most (500)' },
    timeout: { type: 'number', value: 'SECONDS', min: 0.1, summary: 'seconds that it may take (30)' },
  },
  run: async (context, { args, flags }) => {
    const statement = args.statement === '-' ? await context.io.readStdin() : args.statement;
    const reply = await (
      await context.api()
    ).queryDatastore(await context.project(), args.datastore, {
      query: statement,
      params: flags.param.map(paramOf),
      ...(flags['read-only'] ? { read_only: true } : {}),
      ...(flags.limit === undefined ? {} : { limit: flags.limit }),
      ...(flags.timeout === undefined ? {} : { timeout_seconds: flags.timeout }),
    });
    showResult(context.out, reply);
  },
});

/** JSON where it is JSON, text otherwise: `42` is a number, `abc` and `"42"` are text. */
export const paramOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

/** The rows as a table on stdout, how many and how long on stderr. */
export const showResult = (out: Out, reply: QueryReply): void => {
  if (out.json || reply.columns.length > 0) out.data(reply, () => resultTable(reply, out.width));
  const rows = count(reply.row_count, 'row');
  const what = reply.columns.length === 0 ? `${rows} changed` : rows;
  out.note(`${what}${reply.truncated ? ', and there are more' : ''}; ${duration(reply.duration_ms)}`);
};

const resultTable = (reply: QueryReply, width: number): string =>
  table(
    reply.columns.map(({ name }, index) => ({
      title: name,
      value: (row: unknown[]) => cellText(row[index]),
      flexible: true,
    })),
    reply.rows,
    width,
  );

const cellText = (cell: unknown): string => {
  if (cell === null || cell === undefined) return 'NULL';
  return typeof cell === 'string' ? cell : JSON.stringify(cell);
};
