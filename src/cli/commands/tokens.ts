import { CAPABILITIES } from '#kernel/scope';
import { readPages } from '../client/pages.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { usageError } from '../failure.ts';
import { age, parseDuration } from '../output/format.ts';
import { DRY_RUN, PAGING, YES } from './flags.ts';

const create = defineCommand({
  name: 'create',
  summary: 'Mint a token; its secret is shown once',
  details: ['A token can never do more than the one that mints it, nor outlive it.'],
  examples: [
    {
      line: 'berth tokens create ci@shop --can deploy --can read --for shop --expires 90d',
      says: 'for a pipeline that deploys one project',
    },
    { line: "berth tokens create ops --can admin --for '*'", says: 'another administrator' },
  ],
  scope: 'server',
  operations: ['createToken'],
  args: { principal: { summary: 'who or what the token speaks for' } },
  flags: {
    ...DRY_RUN,
    can: { type: 'strings', value: 'CAPABILITY', choices: CAPABILITIES, summary: 'what it may do' },
    for: { type: 'strings', value: 'PROJECT', summary: 'project it may do it in, * for all' },
    expires: {
      type: 'string',
      value: 'WHEN',
      summary: 'lifetime (30d, 12h) or time (2027-01-31T00:00:00Z); never without',
    },
  },
  run: async (context, { args, flags }) => {
    if (flags.can.length === 0)
      throw usageError(
        'no capability is given',
        `give --can, for example --can deploy; valid: ${CAPABILITIES.join(', ')}`,
      );
    if (flags.for.length === 0) throw usageError('no project is given', "give --for NAME, or --for '*' for all");
    const body = { principal: args.principal, capabilities: flags.can, projects: flags.for };
    const expires = flags.expires === undefined ? {} : { expires_at: expiry(flags.expires, Date.now()) };
    const token = await (await context.api()).createToken({ ...body, ...expires });
    context.out.data(token, () => token.secret);
    context.out.note(`${token.id}: keep the secret, it is not shown again`);
  },
});

/** A lifetime or a point in time, as the API wants it. */
export const expiry = (text: string, now: number): string => {
  const lifetime = parseDuration(text);
  const time = lifetime === undefined ? Date.parse(text) : now + lifetime;
  if (Number.isNaN(time))
    throw usageError(`--expires "${text}" is neither a lifetime nor a time`, 'write 30d, 12h, or 2027-01-31T00:00:00Z');
  if (time <= now) throw usageError(`--expires "${text}" is in the past`, 'write a later time');
  return new Date(time).toISOString();
};

const ls = defineCommand({
  name: 'ls',
  summary: 'List tokens, without their secrets',
  examples: [{ line: 'berth tokens ls', says: 'who can do what, and when they last did' }],
  scope: 'server',
  operations: ['listTokens'],
  args: {},
  flags: PAGING,
  run: async (context, { flags }) => {
    const api = await context.api();
    const reply = await readPages(flags, ['tokens'], (page) => api.listTokens(page));
    const now = Date.now();
    context.out.list(reply, reply.tokens, {
      columns: [
        { title: 'TOKEN', value: (row) => row.id },
        { title: 'PRINCIPAL', value: (row) => row.principal, flexible: true },
        { title: 'CAN', value: (row) => row.capabilities.join(','), flexible: true },
        { title: 'FOR', value: (row) => row.projects.join(','), flexible: true },
        { title: 'LAST USED', value: (row) => age(row.last_used_at, now), align: 'right' },
        { title: 'EXPIRES', value: (row) => row.expires_at?.slice(0, 16) ?? 'never' },
      ],
      empty: 'no token',
    });
  },
});

const update = defineCommand({
  name: 'update',
  summary: 'Change what a token may do, where, or how long; its secret stays the same',
  details: ['Lists replace what was there. It takes effect at once, for what the token has open too.'],
  examples: [
    { line: 'berth tokens update tok_01jd3kq2m5abcdefghjk --can read', says: 'from now on it only reads' },
    { line: 'berth tokens update tok_01jd3kq2m5abcdefghjk --expires 30d', says: 'and ends in a month' },
  ],
  scope: 'server',
  operations: ['updateToken'],
  args: { id: { summary: 'id of the token (tok_…)' } },
  flags: {
    ...DRY_RUN,
    can: { type: 'strings', value: 'CAPABILITY', choices: CAPABILITIES, summary: 'what it may do' },
    for: { type: 'strings', value: 'PROJECT', summary: 'project it may do it in, * for all' },
    expires: { type: 'string', value: 'WHEN', summary: 'lifetime or time; never, for none' },
  },
  run: async (context, { args, flags }) => {
    const expires = flags.expires === undefined || flags.expires === 'never' ? null : expiry(flags.expires, Date.now());
    const body = {
      ...(flags.can.length > 0 ? { capabilities: CAPABILITIES.filter((name) => flags.can.includes(name)) } : {}),
      ...(flags.for.length > 0 ? { projects: flags.for } : {}),
      ...(flags.expires === undefined ? {} : { expires_at: expires }),
    };
    if (Object.keys(body).length === 0) throw usageError('nothing is to change', 'give --can, --for or --expires');
    const token = await (await context.api()).updateToken(args.id, body);
    context.out.data(token, () => `${token.id} may ${token.capabilities.join(', ')} in ${token.projects.join(', ')}`);
  },
});

const revoke = defineCommand({
  name: 'revoke',
  summary: 'Revoke a token; it stops working at once',
  examples: [{ line: 'berth tokens revoke tok_01jd3kq2m5abcdefghjk --yes', says: 'without being asked' }],
  scope: 'server',
  operations: ['revokeToken'],
  args: { id: { summary: 'id of the token (tok_…)' } },
  flags: { ...YES, ...DRY_RUN },
  run: async (context, { args, flags }) => {
    await context.confirm(`This revokes ${args.id}: whoever uses it is locked out`, args.id, flags.yes);
    const reply = await (await context.api()).revokeToken(args.id);
    context.out.data(reply, () => `${args.id} is revoked`);
  },
});

export const tokens = defineGroup({
  name: 'tokens',
  summary: 'Mint, list, change and revoke bearer tokens',
  commands: [create, ls, update, revoke],
  fallback: 'ls',
});
