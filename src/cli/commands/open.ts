import { defineCommand } from '../command.ts';
import { openInBrowser } from './api.ts';

export const open = defineCommand({
  name: 'open',
  summary: 'Open the live URL of a service in the browser',
  examples: [{ line: 'berth open -s web', says: 'also prints the URL' }],
  scope: 'service',
  operations: ['getService'],
  args: {},
  flags: { print: { type: 'boolean', summary: 'print the URL only' } },
  run: async (context, { flags }) => {
    const { project, service } = await context.target();
    const { service_url: url } = await (await context.api()).getService(project, service);
    context.out.data({ service_url: url }, () => url);
    if (!flags.print) openInBrowser(context, url);
  },
});
