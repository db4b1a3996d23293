import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from '#cli/command';
import { loadChapters } from '#cli/commands/index';
import type { Io, Writer } from '#cli/io';
import { parseInput } from '#cli/parse';
import { run } from '#cli/run';
import { ExampleServer } from './support/example-server.ts';

const chapters = await loadChapters();
const commands: { path: string; command: Command }[] = chapters.flatMap(({ entries }) =>
  entries.flatMap((entry) =>
    entry.kind === 'command'
      ? [{ path: entry.name, command: entry }]
      : entry.commands.map((command) => ({ path: `${entry.name} ${command.name}`, command })),
  ),
);

/** Lines beside those of the help, for operations that none of its examples reaches. */
const MORE: Record<string, string[]> = {
  'repos diff': ['berth repos diff web main --no-json'],
};
/** Commands that are not run here, each with the reason. */
const NOT_RUN: Record<string, string> = {
  'db tunnel': 'it holds a port open until it is interrupted',
  'db shell': 'it hands the terminal to another program',
  watch: 'it goes on until it is interrupted',
  docs: 'the browser that it opens calls the operations',
  clone: 'it runs git, which finds no repository at the address of the example',
};

/** The words of an example that a shell would hand to berth; undefined for lines that need the shell itself. */
const wordsOf = (line: string): string[] | undefined => {
  const own = /(?:^|\| )berth ((?:'[^']*'|"[^"]*"|[^|>'"])*)/.exec(line)?.[1];
  if (own === undefined || /[$]\(|<\(/.test(line)) return undefined;
  const words = own.replace(/< \S+/, '').match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  // What goes on until Ctrl-C is read once.
  return words.map((word) => word.replaceAll(/['"]/g, '')).filter((word) => word !== '-f');
};

const talking = commands.filter(({ path, command }) => command.operations.length > 0 && NOT_RUN[path] === undefined);

let server: ExampleServer;
let folder: string;
beforeAll(async () => {
  server = await ExampleServer.start();
  folder = mkdtempSync(join(tmpdir(), 'berth-examples-'));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const runLine = async (words: readonly string[]) => {
  const cwd = mkdtempSync(join(folder, 'run-'));
  mkdirSync(join(cwd, 'api'));
  writeFileSync(join(cwd, 'api', 'index.html'), 'hello');
  for (const file of ['index.html', 'server.js', 'package.json', 'token', '.env.production'])
    writeFileSync(join(cwd, file), file === 'package.json' ? '{}' : 'NAME=value\n');
  let [stdout, stderr] = ['', ''];
  const io: Io = {
    env: { SERVICE_ENDPOINT: server.url, SERVICE_TOKEN: 'brt_example', XDG_CONFIG_HOME: join(cwd, 'config') },
    cwd,
    home: cwd,
    stdout: collecting((text) => void (stdout += text)),
    stderr: collecting((text) => void (stderr += text)),
    interactive: false,
    ask: () => Promise.reject(new Error('nobody answers')),
    readStdin: () => Promise.resolve('NAME=value\n'),
    signal: new AbortController().signal,
    untilStopped: () => new Promise(() => undefined),
    exec: () => {
      throw new Error('an example must not replace the process');
    },
  };
  const code = await run(words, io);
  return { code, stdout, stderr };
};

const collecting = (take: (text: string) => void): Writer => ({
  write: (text) => take(text),
  isTTY: false,
  columns: 80,
});

/** What an example leaves out because a folder remembers it, or because it is asked for. */
const completed = (words: readonly string[], { command }: { command: Command }): string[] => {
  const target = [
    ...(['service', 'project'].includes(command.scope) && !words.includes('-p') ? ['-p', 'shop'] : []),
    ...(command.scope === 'service' && !words.includes('-s') ? ['-s', 'web'] : []),
    ...('yes' in command.flags && !words.includes('--yes') ? ['--yes'] : []),
  ];
  return [...words, ...target].map((word) => word.replace('https://api.example.com', server.url));
};

test.each(talking.map((each) => [each.path, each] as const))(
  'the examples of berth %s work, and reach the operations that it is the way to',
  async (path, each) => {
    server.called.clear();
    const lines = [...each.command.examples.map(({ line }) => line), ...(MORE[path] ?? [])];
    const runnable = lines.map(wordsOf).filter((words) => words !== undefined);
    expect(runnable.length).toBeGreaterThan(0);
    for (const words of runnable) {
      const ran = await runLine(completed(words, each));
      expect({ words, ...ran }).toMatchObject({ code: 0 });
    }
    expect([...server.called]).toEqual(expect.arrayContaining([...each.command.operations]));
  },
);

test('a claim that is not true is noticed', async () => {
  server.called.clear();
  await runLine(['projects', 'ls']);
  expect([...server.called]).toEqual(['listProjects']);
});

test.each(commands.map((each) => [each.path, each.command] as const))(
  'every example of berth %s is one that it understands',
  (path, command) => {
    expect(command.examples.length).toBeGreaterThan(0);
    for (const { line } of command.examples) {
      const words = wordsOf(line) ?? [];
      const name = path.split(' ');
      const own = words.filter((word, index) => word !== name[index]);
      if (words.length > 0) expect(() => parseInput(command, `berth ${path}`, own)).not.toThrow();
    }
  },
);

test('the commands that are not run here exist', () => {
  expect(commands.map(({ path }) => path)).toEqual(expect.arrayContaining(Object.keys(NOT_RUN)));
});
