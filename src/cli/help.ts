import {
  COMMON_FLAGS,
  scopeFlags,
  type ArgSpec,
  type Command,
  type Entry,
  type FlagSpec,
  type FlagSpecs,
  type Group,
} from './command.ts';
import type { Out } from './output/out.ts';

/** `--tail N`, `-p, --project NAME`, `--no-logs`. */
export const flagUsage = (name: string, spec: FlagSpec): string => {
  const long = spec.type === 'boolean' ? `--${spec.on === true ? 'no-' : ''}${name}` : `--${name} ${spec.value}`;
  return spec.short === undefined ? long : `-${spec.short}, ${long}`;
};

export const argUsage = (name: string, spec: ArgSpec): string => {
  const shown = spec.variadic === true ? `${name}…` : name;
  return spec.optional === true ? `[${shown}]` : `<${shown}>`;
};

/** `berth deploy [dir] [flags]`. */
export const usageLine = (command: Command, path: string): string =>
  [path, ...Object.entries(command.args).map(([name, spec]) => argUsage(name, spec)), '[flags]'].join(' ');

/** Summary with what else is to know of a value. */
export const flagSummary = (spec: FlagSpec): string => {
  const choices =
    spec.type !== 'boolean' && spec.type !== 'number' && spec.choices !== undefined
      ? ` (${spec.choices.join(', ')})`
      : '';
  return `${spec.summary}${choices}${spec.type === 'strings' ? ' (may be repeated)' : ''}`;
};

type Look = Pick<Out, 'style' | 'width'>;

export const commandHelp = (command: Command, path: string, { style, width }: Look): string => {
  const parts = [wrap(command.summary, width), `${style.bold('Usage')}\n  ${usageLine(command, path)}`];
  const args = Object.entries(command.args).map(([name, spec]): Line => [argUsage(name, spec), spec.summary]);
  const look = { style, width };
  if (args.length > 0) parts.push(section('Arguments', args, look));
  if (Object.keys(command.flags).length > 0) parts.push(section('Flags', flagLines(command.flags), look));
  parts.push(section('Common flags', flagLines({ ...scopeFlags(command.scope), ...COMMON_FLAGS }), look));
  parts.push(...(command.details ?? []).map((paragraph) => wrap(paragraph, Math.min(width, 100))));
  const examples = command.examples.map((example) => `  ${style.dim(`# ${example.says}`)}\n  ${example.line}`);
  if (examples.length > 0) parts.push(`${style.bold('Examples')}\n${examples.join('\n')}`);
  return `${parts.join('\n\n')}\n`;
};

export const groupHelp = (group: Group, path: string, look: Look): string => {
  const { style } = look;
  const lines = group.commands.map((command): Line => [`${path} ${command.name}`, command.summary]);
  const first = group.commands.flatMap((command) => command.examples.slice(0, 1)).slice(0, 3);
  const examples = first.map((example) => `  ${style.dim(`# ${example.says}`)}\n  ${example.line}`);
  return `${[wrap(group.summary, look.width), section('Commands', lines, look), `${style.bold('Examples')}\n${examples.join('\n')}`].join('\n\n')}\n`;
};

export interface Chapter {
  title: string;
  entries: readonly Entry[];
}

export const rootHelp = (chapters: readonly Chapter[], look: Look): string => {
  const { style, width } = look;
  const sections = chapters.map((chapter) =>
    section(
      chapter.title,
      chapter.entries.map((entry): Line => [entry.name, entry.summary]),
      look,
    ),
  );
  return `${[
    'berth: source in, live URL out',
    `${style.bold('Usage')}\n  berth <command> [flags]`,
    ...sections,
    `${style.bold('Examples')}\n  ${style.dim('# tell the client where the server is, then deploy this folder')}\n  berth login https://api.example.com\n  berth deploy`,
    wrap(
      'berth <command> --help says more about a command. Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.',
      width,
    ),
  ].join('\n\n')}\n`;
};

/** Breaks a paragraph between words; a longer word stays whole. */
export const wrap = (paragraph: string, width: number): string => {
  const lines: string[] = [];
  for (const word of paragraph.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.join('\n');
};

type Line = [left: string, right: string];

const flagLines = (flags: FlagSpecs): Line[] =>
  Object.entries(flags).map(([name, spec]) => [flagUsage(name, spec), flagSummary(spec)]);

/** Names to the left, what they are to the right of them, or below where the terminal is narrow. */
const section = (title: string, lines: readonly Line[], { style, width }: Look): string => {
  const left = Math.min(28, Math.max(...lines.map(([name]) => name.length)));
  const indent = width < 60 ? 6 : left + 4;
  const room = Math.max(20, width - indent);
  const rows = lines.map(([name, says]) => {
    const [first = '', ...rest] = wrap(says, room).split('\n');
    const below = name.length > left || indent === 6;
    const head = below ? `  ${name}\n${' '.repeat(indent)}${first}` : `  ${name.padEnd(left)}  ${first}`;
    return [head, ...rest.map((line) => `${' '.repeat(indent)}${line}`)].join('\n');
  });
  return `${style.bold(title)}\n${rows.join('\n')}`;
};
