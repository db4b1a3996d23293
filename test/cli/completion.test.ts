import { describe, expect, test } from 'bun:test';
import { completionScript, SHELLS } from '#cli/completion';
import { loadChapters } from '#cli/commands/index';
import { flagsOf, type Command } from '#cli/command';
import { Home } from './support/cli.ts';

const chapters = await loadChapters();
const commands: { path: string; command: Command }[] = chapters.flatMap((chapter) =>
  chapter.entries.flatMap((entry) =>
    entry.kind === 'command'
      ? [{ path: entry.name, command: entry }]
      : entry.commands.map((command) => ({ path: `${entry.name} ${command.name}`, command })),
  ),
);

/** What bash offers for a line, by running the script in bash itself. */
const offered = (line: readonly string[], cwd = '/'): string[] => {
  const words = ['berth', ...line];
  const script = `${completionScript('bash', chapters)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_berth
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const ran = Bun.spawnSync(['bash', '--norc', '-c', script], { cwd });
  expect(ran.stderr.toString()).toBe('');
  return ran.stdout
    .toString()
    .trim()
    .split('\n')
    .filter((word) => word !== '');
};

describe('bash', () => {
  test('offers the commands, and those that begin like the word', () => {
    expect(offered([''])).toEqual(chapters.flatMap((chapter) => chapter.entries.map(({ name }) => name)));
    expect(offered(['re'])).toEqual(
      ['rollback', 'restart', 'repos', 'releases'].filter((name) => name.startsWith('re')),
    );
  });

  test('offers the commands of a group, and its flags below', () => {
    expect(offered(['env', ''])).toEqual(['set', 'ls', 'unset']);
    expect(offered(['env', 'set', '--f'])).toEqual(['--file']);
    expect(offered(['deploy', '--no-f'])).toEqual(['--no-follow']);
  });

  test('offers the values of a flag, and of an argument', () => {
    expect(offered(['tokens', 'create', 'x', '--can', 'manage_'])).toEqual([
      'manage_projects',
      'manage_env',
      'manage_datastores',
      'manage_repos',
      'manage_tokens',
    ]);
    expect(offered(['completion', ''])).toEqual(expect.arrayContaining([...SHELLS]));
  });

  test('offers files and directories where they belong', () => {
    const home = new Home();
    home.write({ 'app/x': '', 'note.env': '' });
    expect(offered(['deploy', 'a'], home.dir)).toEqual(['app']);
    expect(offered(['env', 'set', '--file', 'n'], home.dir)).toEqual(['note.env']);
    home.remove();
  });

  test('flags before the command do not hide it', () => {
    expect(offered(['--json', 'env', ''])).toEqual(['set', 'ls', 'unset']);
  });
});

describe.each(SHELLS)('%s', (shell) => {
  const script = completionScript(shell, chapters);

  test.each(commands)('knows $path and its flags', ({ path, command }) => {
    expect(script).toContain(path);
    for (const [name, spec] of Object.entries(flagsOf(command))) {
      const shown = spec.type === 'boolean' && spec.on === true ? `no-${name}` : name;
      expect(script).toContain(shell === 'fish' ? ` -l ${shown} ` : `--${shown}`);
    }
  });
});

test('every command has a summary, an example that calls it, and no flag twice', () => {
  for (const { path, command } of commands) {
    expect(command.summary).toMatch(/^[A-Z].*[^.]$/);
    expect(command.examples.length).toBeGreaterThan(0);
    for (const example of command.examples) expect(example.line).toContain(`berth ${path.split(' ')[0] ?? ''}`);
    const shorts = Object.values(flagsOf(command)).flatMap(({ short }) => short ?? []);
    expect(new Set(shorts).size).toBe(shorts.length);
  }
});
