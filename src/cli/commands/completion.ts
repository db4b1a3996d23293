import { defineCommand } from '../command.ts';
import { completionScript, SHELLS } from '../completion.ts';

export const completion = defineCommand({
  name: 'completion',
  summary: 'Print the completion script of a shell',
  examples: [
    { line: 'source <(berth completion bash)', says: 'bash: add this to ~/.bashrc' },
    { line: 'source <(berth completion zsh)', says: 'zsh: add this to ~/.zshrc, after compinit' },
    { line: 'berth completion fish > ~/.config/fish/completions/berth.fish', says: 'fish' },
  ],
  scope: 'none',
  args: { shell: { summary: SHELLS.join(', '), choices: SHELLS } },
  flags: {},
  run: async (context, { args }) => {
    const { loadChapters } = await import('./index.ts');
    const shell = SHELLS.find((known) => known === args.shell) ?? 'bash';
    context.out.raw(completionScript(shell, await loadChapters()));
  },
});
