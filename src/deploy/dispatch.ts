import { rmSync } from 'node:fs';
import type { EventKind } from '#modules/events';
import type { Executor, OperationKind, OperationRow, Outcome, Run } from '#modules/operations';
import type { Adjust } from './adjust.ts';
import type { Collector } from './collect.ts';
import type { DeployDeps } from './deps.ts';
import type { DeployInput } from './builds.ts';
import type { Pipeline } from './pipeline.ts';
import type { Teardown } from './teardown.ts';

type DatastoreOperationKind = Extract<OperationKind, `datastore.${string}`>;

/** What carries out operations on datastores. */
export interface DatastoreOperations {
  executors: Record<DatastoreOperationKind, Executor>;
  /** Deletes every datastore and backup of a project that is deleted. Idempotent. */
  removeProject(run: Run): Promise<void>;
}

interface DispatchParts {
  pipeline: Pipeline;
  adjust: Adjust;
  teardown: Teardown;
  datastores: DatastoreOperations;
}

/** Which code carries out which kind of operation. */
export const createDispatch = (parts: DispatchParts): Executor => {
  const executors: Record<OperationKind, Executor> = {
    deploy: parts.pipeline.deploy,
    rollback: parts.adjust.rollback,
    restart: parts.adjust.restart,
    scale: parts.adjust.scale,
    'env.restart': parts.adjust.restart,
    'service.delete': parts.teardown.service,
    'project.delete': parts.teardown.project,
    ...parts.datastores.executors,
  };
  return (run) => executors[run.kind](run);
};

const SUCCESS_EVENT: Record<OperationKind, EventKind> = {
  deploy: 'deploy.succeeded',
  rollback: 'service.rolled_back',
  restart: 'service.restarted',
  scale: 'service.scaled',
  'env.restart': 'service.restarted',
  'service.delete': 'service.deleted',
  'project.delete': 'project.deleted',
  'datastore.create': 'datastore.ready',
  'datastore.update': 'datastore.updated',
  'datastore.restart': 'datastore.restarted',
  'datastore.rotate': 'datastore.rotated',
  'datastore.backup': 'backup.verified',
  'datastore.restore': 'datastore.restored',
  'datastore.undo_restore': 'datastore.restore_undone',
  'datastore.delete': 'datastore.deleted',
};

const failureEvent = (row: OperationRow, outcome: Outcome): EventKind => {
  if (row.kind === 'datastore.create') return 'datastore.failed';
  if (row.kind === 'datastore.backup') return 'backup.failed';
  if (row.datastore !== null) return 'datastore.operation_failed';
  if (row.kind !== 'deploy') return 'service.operation_failed';
  if (outcome.phase === 'rolled_back') return 'deploy.rolled_back';
  return row.cancel_requested === 1 ? 'deploy.canceled' : 'deploy.failed';
};

/** The commit that a deploy is of, with its repository. */
const pushedBy = (row: OperationRow): { commit?: string; repo?: string } => {
  if (row.kind !== 'deploy') return {};
  const { commit, repo } = JSON.parse(row.input) as DeployInput;
  return { ...(commit === null ? {} : { commit }), ...(repo === undefined ? {} : { repo: repo.name }) };
};

/** Operations of a project that are kept with their logs. */
const KEPT_OPERATIONS = 500;

/** What follows the end of an operation: its event, and the clean-up that it makes possible. */
export const createAftermath =
  (deps: DeployDeps, collector: Collector) =>
  (row: OperationRow, outcome: Outcome): void => {
    const fresh = deps.operations.get(row.id) ?? row;
    deps.events.emit({
      project: row.project,
      kind: outcome.error === null ? SUCCESS_EVENT[row.kind] : failureEvent(fresh, outcome),
      actor: row.created_by,
      data: {
        operation_id: row.id,
        ...(row.service === null ? {} : { service: row.service }),
        ...(row.datastore === null ? {} : { datastore: row.datastore }),
        ...pushedBy(row),
        ...outcome.result,
        ...(outcome.error === null ? {} : { code: outcome.error.kind, message: outcome.error.message }),
      },
    });
    deps.operations.prune(row.project, KEPT_OPERATIONS);
    if (row.kind !== 'deploy' || row.service === null) return;
    // A deploy that was canceled while it waited never came to clean up itself.
    rmSync((JSON.parse(row.input) as DeployInput).archive, { force: true });
    collector.service(row.project, row.service).catch((error: unknown) => {
      deps.log.error('cannot remove surplus releases', error, { project: row.project, service: row.service });
    });
  };
