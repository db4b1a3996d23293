import type { Config } from '#kernel/config';
import { defineCommand } from '../command.ts';
import { CONFIG_FLAGS } from '../config-flags.ts';
import type { Context } from '../context.ts';
import type { CheckResult, CheckStatus, Subject } from '../doctor/check.ts';
import { count } from '../output/format.ts';
import type { Style } from '../output/style.ts';
import { VERSION } from '../version.ts';
import { configFrom } from './server-config.ts';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'Check a server, or the way to it, and say what to do',
  details: [
    'On the machine of the server it checks Docker, limits, firewall, ports, disk, memory, the data directory, versions, DNS, images and the server itself; give it the flags or the configuration that the server has. For a server elsewhere it checks the way there, the token, versions and DNS. Exits 1 when a check fails.',
  ],
  examples: [
    { line: 'sudo berth doctor', says: 'on the server' },
    { line: 'berth doctor --endpoint https://api.example.com', says: 'from elsewhere' },
    { line: 'berth doctor --json', says: 'for monitoring' },
  ],
  scope: 'server',
  args: {},
  flags: {
    server: {
      type: 'boolean',
      on: 'auto',
      summary: 'check this machine as a server; automatic unless the endpoint is elsewhere (--no-server)',
    },
    config: { type: 'string', value: 'FILE', complete: 'file', summary: 'configuration file of the server' },
    ...CONFIG_FLAGS,
  },
  run: async (context, { flags }) => {
    const subject = await subjectOf(context, flags);
    const [{ CHECKS }, { runChecks }, { probesTrusting }] = await Promise.all([
      import('../doctor/index.ts'),
      import('../doctor/check.ts'),
      import('../doctor/real-probes.ts'),
    ]);
    const checks = await runChecks(CHECKS, probesTrusting((await context.findServer())?.ca), subject);
    const failed = checks.filter(({ status }) => status === 'fail').length;
    context.out.data({ ok: failed === 0, checks }, () =>
      checks.map((check) => checkText(check, context.out.style)).join('\n'),
    );
    context.out.note(failed === 0 ? 'no check failed' : `${count(failed, 'check')} failed`);
    return failed === 0 ? 0 : 1;
  },
});

const subjectOf = async (context: Context, flags: Readonly<Record<string, unknown>>): Promise<Subject> => {
  const remote = await context.findServer();
  const here = flags['server'] ?? (remote === undefined || isHere(remote.endpoint));
  const config = here === true ? configFrom(context, flags) : undefined;
  const endpoint = remote?.endpoint ?? (config === undefined ? undefined : localEndpoint(config));
  return { config, endpoint, token: remote?.token, version: VERSION };
};

const isHere = (endpoint: string): boolean => /^(?:localhost|127\..*|\[::1\])$/.test(new URL(endpoint).hostname);

const localEndpoint = (config: Config): string =>
  `http://${config.listen.replace(/^(?:0\.0\.0\.0|\*|\[::\]):/, '127.0.0.1:')}`;

const MARKS: Record<CheckStatus, (style: Style) => string> = {
  ok: (style) => style.green('ok  '),
  warn: (style) => style.yellow('warn'),
  fail: (style) => style.red('FAIL'),
  skip: (style) => style.dim('skip'),
};

const checkText = ({ status, title, detail, next }: CheckResult, style: Style): string => {
  const line = `${MARKS[status](style)}  ${title.padEnd(24)} ${detail}`;
  return next === null ? line : `${line}\n      ${' '.repeat(24)} ${style.cyan('→')} ${next}`;
};
