import { Type } from '@sinclair/typebox';
import { Name, nullable } from '#kernel/schema';
import { CreateDatastoreBody, CreateDatastoreReply, QueryBody, QueryReply } from '#modules/datastores';
import { SetEnvReply } from '#modules/env';
import { firstThatFit } from '../bounds.ts';
import { followOperation, WaitSeconds } from '../follow.ts';
import { defineTool, PROJECT } from '../tool.ts';

const setEnv = defineTool({
  name: 'service_set_env',
  title: 'Set environment variables',
  description:
    'Sets or unsets (null) environment variables of a project, for all its services; they restart one replica after the other, without an outage, and without being waited for: see operations, and service_operation. Values can never be read back. For databases use service_add_datastore, which sets its variables itself.',
  operationId: 'setEnv',
  capability: 'manage_env',
  hints: { destructive: true, idempotent: true },
  dryRun: true,
  input: {
    project: PROJECT,
    env: Type.Record(Type.String(), nullable(Type.String()), {
      minProperties: 1,
      description: 'name → value, merged into what is set; null unsets',
    }),
  },
  output: SetEnvReply,
  run: async ({ api }, { project, env }) => ({ data: await api.setEnv(project, env) }),
});

const addDatastore = defineTool({
  name: 'service_add_datastore',
  title: 'Add a database',
  description:
    'Adds a postgres, redis or mongo to a project, and gives its address and password to all services as variables (DATABASE_URL, PG…; REDIS_URL; MONGO_URL; with name main-db: MAIN_DB_URL), which restart once for them. Safe to repeat: an existing one is returned with created false. Waits until it is ready. Reachable from services of the project only. Next: service_db_query.',
  operationId: 'createDatastore',
  capability: 'manage_datastores',
  hints: { idempotent: true },
  dryRun: true,
  input: { project: PROJECT, ...CreateDatastoreBody.properties, wait_seconds: WaitSeconds(300) },
  output: CreateDatastoreReply,
  run: async (call, { project, wait_seconds: seconds = 300, ...wanted }) => {
    const reply = await call.api.createDatastore(project, wanted);
    if (reply.operation_id === null) return { data: reply };
    const { data, failed } = await followOperation(call, { operation_id: reply.operation_id }, { seconds });
    if (failed === true) return { data: { ...reply, status: 'failed', error: data['error'] }, failed };
    // A token without `read` cannot see how it went: then the reply stands as it was given.
    return {
      data: { ...reply, ...(data['status'] === 'succeeded' ? await call.api.getDatastore(project, reply.name) : {}) },
    };
  },
});

const dbQuery = defineTool({
  name: 'service_db_query',
  title: 'Query a database',
  description:
    'Runs one SQL statement (postgres), one command (redis), or one command as JSON (mongo) in a datastore of a project; give params for $1, $2 … in SQL. At most 500 rows; truncated says that there are more. Only reads, unless the token holds manage_datastores too; read_only true makes sure of it. Every query is recorded.',
  operationId: 'queryDatastore',
  capability: 'query_datastores',
  hints: { destructive: true },
  input: {
    project: PROJECT,
    datastore: { ...Name, description: 'name of the datastore: its kind, unless another was given' },
    ...QueryBody.properties,
  },
  output: QueryReply,
  run: async ({ api }, { project, datastore, ...body }) => {
    const reply = await api.queryDatastore(project, datastore, body);
    const rows = firstThatFit(reply.rows);
    return { data: { ...reply, rows, truncated: reply.truncated || rows.length < reply.rows.length } };
  },
});

export const envTools = [setEnv];
export const datastoreTools = [addDatastore, dbQuery];
