import type { ProjectTree } from '#modules/projects';
import { defineCommand } from '../command.ts';
import { age, count } from '../output/format.ts';
import type { Out } from '../output/out.ts';
import { table } from '../output/table.ts';
import { statusPaint } from './services.ts';

const EVENTS_SHOWN = 8;

export const status = defineCommand({
  name: 'status',
  summary: 'Show a project: services, releases, environment, recent events',
  examples: [
    { line: 'berth status', says: 'the project of this folder' },
    { line: 'berth status -p shop --json', says: 'the whole state tree' },
  ],
  scope: 'project',
  operations: ['getProject'],
  args: {},
  flags: {},
  run: async (context) => {
    const tree = await (await context.api()).getProject(await context.project());
    context.out.data(tree, () => treeText(tree, context.out, Date.now()));
  },
});

const treeText = (tree: ProjectTree, out: Out, now: number): string => {
  const { style } = out;
  const head = `${style.bold(tree.name)}${tree.state === 'active' ? '' : ` ${style.yellow(tree.state)}`} ${style.dim(`since ${tree.created_at.slice(0, 10)}`)}\n`;
  const services = table(
    [
      { title: 'SERVICE', value: (row) => row.name },
      { title: 'STATUS', value: (row) => row.status },
      { title: 'REPLICAS', value: (row) => `${row.running_replicas}/${row.replicas}` },
      { title: 'RELEASE', value: (row) => row.live_release },
      { title: 'URL', value: (row) => row.service_url, flexible: true },
    ],
    tree.services,
    out.width,
  );
  const events = table(
    [
      { title: 'WHEN', value: (row) => age(row.ts, now) },
      { title: 'EVENT', value: (row) => row.kind },
      { title: 'BY', value: (row) => row.actor, flexible: true },
      { title: 'ABOUT', value: (row) => aboutEvent(row.data), flexible: true },
    ],
    [...tree.recent_events].sort((a, b) => b.seq - a.seq).slice(0, EVENTS_SHOWN),
    out.width,
  );
  const parts = [
    head,
    tree.services.length === 0 ? `no service yet: berth deploy -p ${tree.name}\n` : statusPaint(services, style),
    ...(tree.datastores.length === 0 ? [] : [statusPaint(datastoresTable(tree, out.width), style)]),
    `${style.bold('Environment')}  ${tree.env_keys.length === 0 ? 'none' : tree.env_keys.join(', ')}\n`,
    `${style.bold('Releases')}  ${count(tree.releases.length, 'release')} kept\n`,
  ];
  if (tree.recent_events.length > 0) parts.push(events);
  return parts.join('\n');
};

const datastoresTable = ({ datastores }: ProjectTree, width: number): string =>
  table(
    [
      { title: 'DATASTORE', value: (row) => row.name },
      { title: 'STATUS', value: (row) => row.status },
      { title: 'KIND', value: (row) => `${row.kind} ${row.version}` },
      { title: 'LAST BACKUP', value: (row) => row.last_backup?.status ?? 'none' },
      { title: 'VARIABLES', value: (row) => row.variables.join(','), flexible: true },
    ],
    datastores,
    width,
  );

/** The plain values of an event's data, for one line. */
export const aboutEvent = (data: Record<string, unknown>): string =>
  Object.entries(data)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(' ');
