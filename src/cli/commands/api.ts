import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { localError } from '../failure.ts';
import { factLines } from '../output/facts.ts';

export const health = defineCommand({
  name: 'health',
  summary: 'Say whether the server and what it stands on answer; exits 1 when not',
  details: ['Needs no token.'],
  examples: [{ line: 'berth health --json', says: 'for monitoring' }],
  scope: 'server',
  operations: ['getHealth'],
  args: {},
  flags: {},
  run: async (context) => {
    const reply = await (await context.api()).health();
    context.out.data(reply, () => factLines(reply).join('\n'));
    return reply['status'] === 'ok' ? 0 : 1;
  },
});

export const checks = defineCommand({
  name: 'checks',
  summary: 'Say what an administrator of the server has to look at; exits 1 when something fails',
  details: ['From the point of view of the server; berth doctor, on the machine itself, looks at more.'],
  examples: [{ line: 'berth checks', says: 'engine, disks, backups, from afar' }],
  scope: 'server',
  operations: ['runChecks'],
  args: {},
  flags: {},
  run: async (context) => {
    const reply = await (await context.api()).checks();
    context.out.list(reply, reply.checks, {
      columns: [
        { title: '', value: (row) => row.status },
        { title: 'CHECK', value: (row) => row.title },
        { title: 'FOUND', value: (row) => row.detail, flexible: true },
        { title: 'NEXT', value: (row) => row.next ?? '', flexible: true },
      ],
      empty: 'nothing to check',
    });
    return reply.status === 'fail' ? 1 : 0;
  },
});

export const metrics = defineCommand({
  name: 'metrics',
  summary: 'Print the metrics of the server in the Prometheus text format (administrators)',
  examples: [{ line: 'berth metrics | grep ^berth_http', says: 'requests, by operation and status' }],
  scope: 'server',
  operations: ['getMetrics'],
  args: {},
  flags: {},
  run: async (context) => context.out.raw(await (await context.api()).text('/metrics')),
});

export const openapi = defineCommand({
  name: 'openapi',
  summary: 'Print the OpenAPI document of the server',
  examples: [
    { line: 'berth openapi > berth.json', says: 'for code generators' },
    { line: 'berth openapi --yaml', says: 'for reading' },
  ],
  scope: 'server',
  operations: ['getOpenApi', 'getOpenApiYaml'],
  args: {},
  flags: { yaml: { type: 'boolean', summary: 'as YAML' } },
  run: async (context, { flags }) =>
    context.out.raw(await (await context.api()).text(flags.yaml ? '/v1/openapi.yaml' : '/v1/openapi')),
});

export const skill = defineCommand({
  name: 'skill',
  summary: 'Print the guide for software agents that the server gives',
  examples: [{ line: 'berth skill > SKILL.md', says: 'for an agent that works on this machine' }],
  scope: 'server',
  operations: ['getSkill'],
  args: {},
  flags: {},
  run: async (context) => context.out.raw(await (await context.api()).text('/skill.md')),
});

export const docs = defineCommand({
  name: 'docs',
  summary: 'Open the interactive documentation of the API in the browser',
  examples: [{ line: 'berth docs --print', says: 'only its URL' }],
  scope: 'server',
  operations: ['getDocs', 'getDocsFile'],
  args: {},
  flags: { print: { type: 'boolean', summary: 'print the URL only' } },
  run: async (context, { flags }) => {
    const url = `${(await context.server()).endpoint}/v1/docs`;
    context.out.data({ url }, () => url);
    if (!flags.print) openInBrowser(context, url);
  },
});

/** Opens a page for a person; a note where that is not possible. */
export const openInBrowser = (context: Context, url: string): void => {
  if (!context.io.interactive) return;
  // A URL may come from the server: nothing but web addresses may reach the opener.
  if (!/^https?:\/\//.test(url))
    throw localError(`the server gave "${url}", which is no web address`, 'open it by hand if you trust it');
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  if (Bun.which(opener) === null) return context.out.note(`${opener} is not installed: open the URL by hand`);
  Bun.spawn([opener, url], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref();
};
