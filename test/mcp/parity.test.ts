import { expect, test } from 'bun:test';
import { toolsOf } from '#src/mcp/tools/index.ts';
import { missingFrom, operationIds, unknownIn } from '#test/support/operations.ts';

/** Operations that are no tool, and why. A tool for one takes its line out of here. */
const EXEMPT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    'a tool that is there gives it': {
      getService: 'service_status with a service',
      listServices: 'service_status of the project',
      listReleases: 'service_status of the project',
      compareReleases: 'service_rollback with dry_run says what it changes',
      streamOperation: 'progress of the call, service_operation',
      listDatastores: 'service_status of the project',
      getDatastore: 'service_add_datastore, service_status',
      listDatastoreTables: 'service_db_query with the catalogue of the database',
      searchLogs: 'service_logs',
      cancelOperation: 'cancelling the call of service_deploy',
      whoami: 'the list of tools: only those that the token may use are in it',
    },
    'people decide it, who can take it back only with work or not at all': {
      deleteProject: '',
      deleteService: '',
      deleteRepo: '',
      deleteDatastore: '',
      deleteBackup: '',
      restoreBackup: '',
      undoRestore: '',
      rotateDatastore: '',
    },
    'who may do what is for people to say': {
      createToken: '',
      listTokens: '',
      updateToken: '',
      revokeToken: '',
      listSessions: '',
      endSessions: '',
    },
    'the operator of the server works with it, not an agent that builds an app': {
      getHealth: '',
      clusterCapacity: '',
      getMetrics: '',
      getUsage: '',
      runChecks: '',
      diskByProject: '',
      listOperations: '',
      listEvents: 'service_status has the latest events of a project',
      updateDatastore: '',
      restartDatastore: '',
      restartService: 'service_scale and service_set_env begin new replicas',
      forkDatastore: '',
      listBackups: '',
      createBackup: '',
      getBackup: '',
    },
    'the agent has the files before it, or git': {
      getRepo: 'service_list_repos has the addresses to clone',
      updateRepo: '',
      listRepoRefs: '',
      listRepoCommits: '',
      getRepoCommit: '',
      getRepoDiff: '',
      compareRepoRefs: '',
      getRepoTree: '',
      getRepoFile: '',
      getRepoReadme: '',
      getRepoArchive: '',
      syncRepo: '',
    },
    'names of variables only, which the agent set itself': { listEnv: '' },
    'a stream or a file, which no result of a tool holds': {
      openTunnel: '',
      downloadBackup: '',
      downloadLogs: 'service_logs',
      streamEvents: 'service_status has the latest events',
      streamLive: '',
    },
    'documentation of the API: service_get_skill is what an agent reads': {
      getOpenApi: '',
      getOpenApiYaml: '',
      getDocs: '',
      getDocsFile: '',
    },
  }).flatMap(([reason, operations]) =>
    Object.entries(operations).map(([id, more]) => [id, more === '' ? reason : `${reason}: ${more}`]),
  ),
);

const reached = new Set(toolsOf('stdio').map(({ operationId }) => operationId));
const ids = await operationIds();

test('every operation of the API is a tool, or has a reason why it is none', () => {
  expect(ids.length).toBeGreaterThan(50);
  expect(missingFrom(reached, ids, EXEMPT)).toEqual([]);
  expect(missingFrom(reached, [...ids, 'paintService'], EXEMPT)).toEqual(['paintService']);
});

test('no tool and no reason is about an operation that the API does not have, and none has both', () => {
  expect(unknownIn(new Set([...reached, ...Object.keys(EXEMPT)]), ids)).toEqual([]);
  expect(Object.keys(EXEMPT).filter((id) => reached.has(id))).toEqual([]);
});
