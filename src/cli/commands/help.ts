import { defineCommand } from '../command.ts';
import { usageError } from '../failure.ts';
import { commandHelp, groupHelp, rootHelp } from '../help.ts';
import { pickEntry } from '../parse.ts';
import { didYouMean } from '../suggest.ts';

export const help = defineCommand({
  name: 'help',
  summary: 'Show help for a command, or all of it as Markdown',
  examples: [
    { line: 'berth help deploy', says: 'the same as berth deploy --help' },
    { line: 'berth help --markdown > docs/cli.md', says: 'the reference of all commands' },
  ],
  scope: 'none',
  args: { command: { summary: 'command, with its subcommand', variadic: true, optional: true } },
  flags: { markdown: { type: 'boolean', summary: 'the whole reference as Markdown' } },
  run: async (context, { args, flags }) => {
    const { loadChapters } = await import('./index.ts');
    const chapters = await loadChapters();
    const raw = (text: string): void => context.out.raw(text);
    if (flags.markdown) return raw((await import('../reference.ts')).reference(chapters));
    const [name, sub] = args.command;
    if (name === undefined) return raw(rootHelp(chapters, context.out));
    const entries = chapters.flatMap((chapter) => chapter.entries);
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry === undefined)
      throw usageError(
        `unknown command "${name}"`,
        didYouMean(
          name,
          entries.map((each) => each.name),
          'see: berth help',
        ),
      );
    if (entry.kind === 'command') return raw(commandHelp(entry, `berth ${name}`, context.out));
    if (sub === undefined) return raw(groupHelp(entry, `berth ${name}`, context.out));
    return raw(commandHelp(pickEntry(sub, entry.commands, `berth ${name}`), `berth ${name} ${sub}`, context.out));
  },
});
