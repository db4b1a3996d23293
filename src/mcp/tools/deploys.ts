import { Type, type TProperties } from '@sinclair/typebox';
import { Name, NAME_RULE } from '#kernel/schema';
import { RollbackBody, ScaleServiceBody } from '#modules/services';
import { followOperation, OutcomeSchema, settle, WaitSeconds } from '../follow.ts';
import { InlineFiles, packFiles } from '../inline.ts';
import { packDirectory } from '../directory.ts';
import { defineTool, PROJECT, SERVICE, type Call, type Surface } from '../tool.ts';

type Source = { contentType: string; open: () => ReadableStream<Uint8Array> };

const BUILD_SECONDS = 2400;

const NewService = { ...Name, description: `name of the service, made by its first deploy: ${NAME_RULE}` };

const COMMON = {
  no_cache: Type.Optional(Type.Boolean({ description: 'true: build every step anew' })),
  commit: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'commit that the source is of; shown with the release' }),
  ),
  wait_seconds: WaitSeconds(BUILD_SECONDS),
};

const WHAT =
  'A Dockerfile at the root is used when there is one, else the language is detected. The app must listen on 0.0.0.0:$PORT. Waits for the end and returns the live URL (service_url), or an error with code, hint and log_tail: do what the hint says and deploy again; the old release keeps serving meanwhile. The project must exist (service_create_project); the service is made by its first deploy. Cancelling the call cancels the deploy.';

interface DeployArgs {
  project: string;
  service: string;
  no_cache?: boolean;
  commit?: string;
  wait_seconds?: number;
}

const defineDeploy = (surface: {
  description: string;
  input: TProperties;
  source: (call: Call, args: Record<string, unknown>) => Promise<Source>;
}) =>
  defineTool({
    name: 'service_deploy',
    title: 'Deploy a service',
    description: `${surface.description} ${WHAT}`,
    operationId: 'createDeploy',
    capability: 'deploy',
    hints: { openWorld: true },
    dryRun: true,
    input: { project: PROJECT, service: NewService, ...surface.input, ...COMMON },
    output: OutcomeSchema,
    run: async (call, args) => {
      const {
        project,
        service,
        no_cache,
        commit,
        wait_seconds: seconds = BUILD_SECONDS,
      } = args as unknown as DeployArgs;
      const stream = await surface.source(call, args);
      const accepted = await call.api.deploy(project, service, { stream, no_cache, commit });
      call.note(`${service} of ${project}: ${accepted.operation_id}`);
      return followOperation(call, accepted, { seconds, cancels: true });
    },
  });

const DEPLOYS = {
  stdio: defineDeploy({
    description:
      'Builds a directory of this machine on the server and makes it live. The directory is packed here, without .git, node_modules, .venv, __pycache__, .service and what .serviceignore lists (one path prefix a line; at most 512 MB packed).',
    input: {
      directory: Type.Optional(
        Type.String({
          minLength: 1,
          description: 'absolute path of the source; the working folder of this program when omitted',
        }),
      ),
    },
    source: (call, { directory }) => packDirectory(call, typeof directory === 'string' ? directory : '.'),
  }),
  http: defineDeploy({
    description:
      'Builds a source on the server and makes it live. This connection cannot read your disk: give all files of the source in files (at most 3 MB together). For more, commit them with service_commit_files to a repository that deploys the service, or run "berth mcp" on your machine.',
    input: { files: InlineFiles },
    source: (call, { files }) => packFiles(call, files as Parameters<typeof packFiles>[1]),
  }),
} satisfies Record<Surface, unknown>;

export const deployTool = (surface: Surface) => DEPLOYS[surface];

const operation = defineTool({
  name: 'service_operation',
  title: 'Show or follow an operation',
  description:
    'The state of a long operation (deploy, rollback, scale, restart, datastore work): status queued, running, succeeded or failed, phase, result, error. With wait_seconds it waits for the end. log_lines gives the last lines of its log.',
  operationId: 'getOperation',
  capability: 'read',
  hints: { readOnly: true, idempotent: true },
  input: {
    operation_id: Type.String({ pattern: '^op_[0-9a-z]{1,40}$', description: 'as another tool returned it, op_…' }),
    wait_seconds: WaitSeconds(0),
    log_lines: Type.Optional(Type.Integer({ minimum: 0, maximum: 500, description: 'none when omitted' })),
  },
  output: OutcomeSchema,
  run: async (call, { operation_id, wait_seconds: seconds = 0, log_lines: lines = 0 }) => {
    const now = await call.api.getOperation(operation_id);
    const ended = now.status === 'succeeded' || now.status === 'failed';
    // The stream has no end while the operation runs: its log so far is read for a second.
    const reading = ended || lines > 0 ? Math.max(seconds, ended ? 30 : 1) : seconds;
    const reply = await followOperation(call, now, { seconds: reading, lines });
    return { ...reply, failed: false };
  },
});

const scale = defineTool({
  name: 'service_scale',
  title: 'Scale or tune a service',
  description:
    'Sets how many replicas of a service run (0 stops it), and its limits and health check; give at least one. Without an outage; waits until it is done. Settings other than replicas need the capability deploy too.',
  operationId: 'scaleService',
  capability: 'scale',
  hints: { idempotent: true },
  dryRun: true,
  input: { project: PROJECT, service: SERVICE, ...ScaleServiceBody.properties, wait_seconds: WaitSeconds(300) },
  output: OutcomeSchema,
  run: async (call, { project, service, wait_seconds = 300, ...settings }) =>
    settle(call, await call.api.changeService(project, service, settings), wait_seconds),
});

const rollback = defineTool({
  name: 'service_rollback',
  title: 'Roll a service back',
  description:
    'Makes the previous release of a service live again, or the named one (service_status lists releases). Nothing is built; waits until it is done. CONFLICT when there is none to go back to. Repeated without release, it goes back and forth between the last two.',
  operationId: 'rollbackService',
  capability: 'deploy',
  hints: {},
  dryRun: true,
  input: { project: PROJECT, service: SERVICE, ...RollbackBody.properties, wait_seconds: WaitSeconds(300) },
  output: OutcomeSchema,
  run: async (call, { project, service, release, wait_seconds = 300 }) =>
    settle(call, await call.api.rollback(project, service, release), wait_seconds),
});

export const operationTools = [operation];
export const changeTools = [scale, rollback];
