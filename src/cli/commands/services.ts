import type { ServiceDetail } from '#modules/services';
import { readPages } from '../client/pages.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { settleReply } from '../follow.ts';
import { age, bytes } from '../output/format.ts';
import type { Out } from '../output/out.ts';
import type { Style } from '../output/style.ts';
import { table } from '../output/table.ts';
import { DETACH, DRY_RUN, PAGING, YES } from './flags.ts';

const ls = defineCommand({
  name: 'ls',
  summary: 'List the services of a project',
  examples: [{ line: 'berth services ls -p shop', says: 'services with status and URL' }],
  scope: 'project',
  operations: ['listServices'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const [api, project] = [await context.api(), await context.project()];
    const reply = await readPages(flags, ['services'], (page) => api.listServices(project, page));
    context.out.list(reply, reply.services, {
      columns: [
        { title: 'SERVICE', value: (row) => row.name },
        { title: 'STATUS', value: (row) => row.status },
        { title: 'REPLICAS', value: (row) => `${row.running_replicas}/${row.replicas}` },
        { title: 'RELEASE', value: (row) => row.live_release },
        { title: 'CACHE', value: (row) => bytes(row.build_cache_bytes), align: 'right' },
        { title: 'URL', value: (row) => row.service_url, flexible: true },
      ],
      empty: 'no service yet: berth deploy',
    });
  },
});

const info = defineCommand({
  name: 'info',
  summary: 'Show one service with its settings and replicas',
  examples: [{ line: 'berth services info -s web', says: 'replicas with restarts, memory and CPU' }],
  scope: 'service',
  operations: ['getService'],
  args: {},
  flags: {},
  run: async (context) => {
    const { project, service } = await context.target();
    const detail = await (await context.api()).getService(project, service);
    context.out.data(detail, () => detailText(detail, context.out, Date.now()));
  },
});

const remove = defineCommand({
  name: 'delete',
  summary: 'Delete a service with its releases, images and logs',
  examples: [{ line: 'berth services delete -s web --yes', says: 'without being asked' }],
  scope: 'service',
  operations: ['deleteService'],
  args: {},
  flags: { ...YES, ...DETACH, ...DRY_RUN },
  run: async (context, { flags }) => {
    const { project, service } = await context.target();
    await context.confirm(
      `This deletes service ${service} of project ${project}, its releases and its logs`,
      service,
      flags.yes,
    );
    const reply = await (await context.api()).deleteService(project, service);
    await settleReply(context, reply, { detach: flags.detach, done: `${service} is deleted` });
  },
});

export const services = defineGroup({
  name: 'services',
  summary: 'List, show and delete services',
  commands: [ls, info, remove],
  fallback: 'ls',
});

const detailText = (detail: ServiceDetail, out: Out, now: number): string => {
  const { style } = out;
  const facts: [string, string][] = [
    ['status', statusPaint(detail.status, style)],
    ['url', detail.service_url],
    ['release', detail.live_release ?? 'none yet'],
    ['previous', detail.previous_release ?? 'none'],
    ['replicas', `${detail.running_replicas} of ${detail.replicas}`],
    ['limits', `${detail.memory_mb} MB, ${detail.cpus} CPU each`],
    ['health', `${detail.health_path ?? 'port only'}, within ${detail.health_timeout_seconds} s`],
    ['drain', `${detail.drain_seconds} s`],
    ['cache', `${bytes(detail.build_cache_bytes)} of builds`],
    ['protocol', detail.protocol],
  ];
  const lines = facts.map(([name, value]) => `  ${name.padEnd(9)} ${value}`);
  const replicas = table(
    [
      { title: 'REPLICA', value: (row) => row.name, flexible: true },
      { title: 'STATE', value: (row) => `${row.state}${row.oom_killed ? ' (out of memory)' : ''}` },
      { title: 'RELEASE', value: (row) => row.release },
      { title: 'RESTARTS', value: (row) => row.restarts, align: 'right' },
      { title: 'EXIT', value: (row) => row.exit_code, align: 'right' },
      { title: 'MEMORY', value: (row) => (row.memory_bytes === null ? null : bytes(row.memory_bytes)), align: 'right' },
      { title: 'CPU', value: (row) => (row.cpu === null ? null : `${Math.round(row.cpu * 100)} %`), align: 'right' },
      { title: 'UP', value: (row) => (row.running ? age(row.started_at, now) : null), align: 'right' },
    ],
    detail.replica_states,
    out.width,
  );
  return `${style.bold(`${detail.project}/${detail.name}`)}\n${lines.join('\n')}\n${detail.replica_states.length === 0 ? '' : `\n${replicas}`}`;
};

/** Colours the words of a status wherever they stand alone. */
export const statusPaint = (text: string, style: Style): string =>
  text
    .replaceAll(/(?<= |^)running(?= |$)/gm, style.green('running'))
    .replaceAll(/(?<= |^)(?:deploying|degraded)(?= |$)/gm, (word) => style.yellow(word))
    .replaceAll(/(?<= |^)down(?= |$)/gm, style.red('down'));
