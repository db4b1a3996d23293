import { defineCommand } from '../command.ts';
import { settleReply } from '../follow.ts';
import { DETACH, DRY_RUN } from './flags.ts';

export const rollback = defineCommand({
  name: 'rollback',
  summary: 'Make the previous or a named release live again',
  details: ['Nothing is built: the image of the release is in the registry. See berth releases for what can be named.'],
  examples: [
    { line: 'berth rollback', says: 'back to the previous release' },
    { line: 'berth rollback rel_3f2a9c01b7de', says: 'back to this one' },
  ],
  scope: 'service',
  operations: ['rollbackService'],
  args: { release: { summary: 'id of the release (default: the previous one)', optional: true } },
  flags: { ...DETACH, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    const { project, service } = await context.target();
    const reply = await (await context.api()).rollback(project, service, args.release);
    await settleReply(context, reply, { detach: flags.detach, done: reply.service_url ?? `${service} is rolled back` });
  },
});

export const restart = defineCommand({
  name: 'restart',
  summary: 'Replace the replicas of a service by fresh ones, without an outage',
  examples: [{ line: 'berth restart -s web', says: 'restart a service' }],
  scope: 'service',
  operations: ['restartService'],
  args: {},
  flags: { ...DETACH, ...DRY_RUN },
  run: async (context, { flags }) => {
    const { project, service } = await context.target();
    const reply = await (await context.api()).restart(project, service);
    await settleReply(context, reply, { detach: flags.detach, done: `${service} is restarted` });
  },
});
