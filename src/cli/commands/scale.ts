import type { Settings } from '#modules/services';
import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { settleReply } from '../follow.ts';
import { DETACH, DRY_RUN } from './flags.ts';

export const scale = defineCommand({
  name: 'scale',
  summary: 'Set the number of replicas, and the limits and probes of a service',
  examples: [
    { line: 'berth scale 3', says: 'three replicas' },
    {
      line: 'berth scale --memory 1024 --cpus 2',
      says: 'more for each replica; new ones start before the old ones go',
    },
    { line: 'berth scale --health-path /healthz', says: 'a release is live only once this path answers' },
  ],
  scope: 'service',
  operations: ['scaleService'],
  args: { replicas: { summary: 'number of replicas', optional: true } },
  flags: {
    ...DETACH,
    ...DRY_RUN,
    'health-path': {
      type: 'string',
      value: 'PATH',
      summary: 'path that must answer 2xx or 3xx; "none" probes the port only',
    },
    'health-timeout': {
      type: 'number',
      value: 'SECONDS',
      integer: true,
      min: 1,
      summary: 'time that a new replica has to listen',
    },
    drain: {
      type: 'number',
      value: 'SECONDS',
      integer: true,
      min: 0,
      summary: 'time that requests in flight have to end',
    },
    memory: { type: 'number', value: 'MB', integer: true, min: 16, summary: 'memory limit of one replica' },
    cpus: { type: 'number', value: 'N', min: 0.05, summary: 'CPU limit of one replica in cores' },
    protocol: {
      type: 'string',
      value: 'NAME',
      choices: ['http', 'h2c'],
      summary: 'what the app speaks; h2c is HTTP/2 without TLS, for gRPC',
    },
  },
  run: async (context, { args, flags }) => {
    const settings = settingsOf(args.replicas, flags);
    if (Object.keys(settings).length === 0)
      throw usageError('nothing to change', 'give the number of replicas, or a setting; see: berth scale --help');
    const { project, service } = await context.target();
    const reply = await (await context.api()).changeService(project, service, settings);
    const shown = Object.entries(settings).map(([name, value]) => `${name} ${value === null ? 'none' : String(value)}`);
    await settleReply(context, reply, { detach: flags.detach, done: `${service}: ${shown.join(', ')}` });
  },
});

interface ScaleFlags {
  'health-path': string | undefined;
  'health-timeout': number | undefined;
  drain: number | undefined;
  memory: number | undefined;
  cpus: number | undefined;
  protocol: string | undefined;
}

const settingsOf = (replicas: string | undefined, flags: ScaleFlags): Settings => {
  const settings: Settings = {};
  if (replicas !== undefined) settings.replicas = replicaCount(replicas);
  if (flags['health-path'] !== undefined)
    settings.health_path = flags['health-path'] === 'none' ? null : flags['health-path'];
  if (flags['health-timeout'] !== undefined) settings.health_timeout_seconds = flags['health-timeout'];
  if (flags.drain !== undefined) settings.drain_seconds = flags.drain;
  if (flags.memory !== undefined) settings.memory_mb = flags.memory;
  if (flags.cpus !== undefined) settings.cpus = flags.cpus;
  if (flags.protocol === 'http' || flags.protocol === 'h2c') settings.protocol = flags.protocol;
  return settings;
};

const replicaCount = (text: string): number => {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw usageError(`"${text}" is no number of replicas`, 'write: berth scale 3');
};
