import { defineCommand } from '../command.ts';
import { localError } from '../failure.ts';

export const open = defineCommand({
  name: 'open',
  summary: 'Open the live URL of a service in the browser',
  examples: [{ line: 'berth open -s web', says: 'also prints the URL' }],
  scope: 'service',
  args: {},
  flags: { print: { type: 'boolean', summary: 'print the URL only' } },
  run: async (context, { flags }) => {
    const { project, service } = await context.target();
    const { service_url: url } = await (await context.api()).getService(project, service);
    context.out.data({ service_url: url }, () => url);
    if (flags.print || !context.io.interactive) return;
    // A URL comes from the server: nothing but web addresses may reach the opener.
    if (!/^https?:\/\//.test(url))
      throw localError(`the server gave "${url}", which is no web address`, 'open it by hand if you trust it');
    const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
    if (Bun.which(opener) === null) return context.out.note(`${opener} is not installed: open the URL by hand`);
    Bun.spawn([opener, url], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).unref();
    return undefined;
  },
});
