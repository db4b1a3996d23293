import { flagsOf, type Command, type Complete, type FlagSpec } from './command.ts';
import { flagSummary, type Chapter } from './help.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** One place of the command line: the words up to it, and what may come next. */
interface Node {
  /** `env set`; empty for the root. */
  path: string;
  words: { word: string; says: string }[];
  /** Flags that take a value, and what completes it. */
  values: { flag: string; short: string | undefined; choices: readonly string[]; complete: Complete | undefined }[];
  /** What completes the arguments. */
  complete: Complete | undefined;
}

/** The completion script of a shell, made of the same definitions as help. */
export const completionScript = (shell: Shell, chapters: readonly Chapter[]): string => {
  const nodes = nodesOf(chapters);
  if (shell === 'bash') return bash(nodes);
  return shell === 'zsh' ? zsh(nodes) : fish(nodes);
};

const nodesOf = (chapters: readonly Chapter[]): Node[] => {
  const entries = chapters.flatMap((chapter) => chapter.entries);
  const root: Node = {
    path: '',
    words: entries.map(({ name, summary }) => ({ word: name, says: summary })),
    values: [],
    complete: undefined,
  };
  return [
    root,
    ...entries.flatMap((entry) => {
      if (entry.kind === 'command') return [commandNode(entry, entry.name)];
      const group: Node = {
        path: entry.name,
        words: entry.commands.map(({ name, summary }) => ({ word: name, says: summary })),
        values: [],
        complete: undefined,
      };
      return [group, ...entry.commands.map((command) => commandNode(command, `${entry.name} ${command.name}`))];
    }),
  ];
};

const commandNode = (command: Command, path: string): Node => {
  const flags = Object.entries(flagsOf(command));
  const args = Object.values(command.args);
  const choices = args.flatMap((arg) => arg.choices ?? []).map((word) => ({ word, says: '' }));
  return {
    path,
    words: [...choices, ...flags.map(([name, spec]) => ({ word: longFlag(name, spec), says: flagSummary(spec) }))],
    values: flags.flatMap(([name, spec]) => (spec.type === 'boolean' ? [] : [valueOf(name, spec)])),
    complete: args.find((arg) => arg.complete !== undefined)?.complete,
  };
};

const longFlag = (name: string, spec: FlagSpec): string =>
  spec.type === 'boolean' && spec.on === true ? `--no-${name}` : `--${name}`;

const valueOf = (name: string, spec: Exclude<FlagSpec, { type: 'boolean' }>): Node['values'][number] => ({
  flag: `--${name}`,
  short: spec.short === undefined ? undefined : `-${spec.short}`,
  choices: spec.type === 'number' ? [] : (spec.choices ?? []),
  complete: spec.type === 'number' ? undefined : spec.complete,
});

const bash = (nodes: readonly Node[]): string => {
  const paths = nodes.filter((node) => node.path !== '').map((node) => `'${node.path}'`);
  const words = nodes.map(
    (node) =>
      `    '${node.path}') words='${node.words.map(({ word }) => word).join(' ')}'; files='${node.complete ?? ''}' ;;`,
  );
  const values = nodes.flatMap((node) =>
    node.values.map((value) => {
      const flags = [value.flag, ...(value.short === undefined ? [] : [value.short])]
        .map((flag) => `'${node.path}:${flag}'`)
        .join('|');
      return `    ${flags}) words='${value.choices.join(' ')}'; files='${value.complete ?? ''}'; return ;;`;
    }),
  );
  return `# berth completion for bash: source <(berth completion bash)
_berth_find() {
  path='' ; local word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
    ${paths.join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
}
_berth_words() {
  case "$path:$previous" in
${values.join('\n')}
  esac
  case "$path" in
${words.join('\n')}
  esac
}
_berth() {
  local path words='' files='' current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  _berth_find
  _berth_words
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $current == -* ]] && return
  case "$files" in
  file) COMPREPLY+=($(compgen -f -- "$current")) ;;
  directory) COMPREPLY+=($(compgen -d -- "$current")) ;;
  esac
}
complete -o filenames -F _berth berth
`;
};

const zsh = (nodes: readonly Node[]): string => {
  const paths = nodes.filter((node) => node.path !== '').map((node) => `'${node.path}'`);
  const words = nodes.map((node) => {
    const list = node.words.map(({ word, says }) => quote(`${word.replaceAll(':', '\\:')}:${says}`));
    return `    '${node.path}') list=(${list.join(' ')}); files='${node.complete ?? ''}' ;;`;
  });
  const values = nodes.flatMap((node) =>
    node.values.map((value) => {
      const flags = [value.flag, ...(value.short === undefined ? [] : [value.short])]
        .map((flag) => `'${node.path}:${flag}'`)
        .join('|');
      return `    ${flags}) list=(${value.choices.map(quote).join(' ')}); files='${value.complete ?? (value.choices.length === 0 ? 'any' : '')}' ;;`;
    }),
  );
  return `#compdef berth
# berth completion for zsh: source <(berth completion zsh), or save it as _berth in a directory of $fpath
_berth() {
  local line='' word files='' previous="\${words[CURRENT-1]}"
  local -a list
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${line:+$line }$word" in
    ${paths.join('|')}) line="\${line:+$line }$word" ;;
    esac
  done
  case "$line:$previous" in
${values.join('\n')}
    *)
    case "$line" in
${words.join('\n')}
    esac ;;
  esac
  (( \${#list} )) && _describe 'berth' list
  case "$files" in
    file) _files ;;
    directory) _files -/ ;;
  esac
  return 0
}
if [ "\${funcstack[1]}" = _berth ]; then _berth "$@"; else compdef _berth berth; fi
`;
};

const fish = (nodes: readonly Node[]): string => {
  const paths = nodes.filter((node) => node.path !== '').map((node) => `'${node.path}'`);
  const lines = nodes.flatMap((node) => {
    const here = `complete -c berth -n '__berth_at "${node.path}"'`;
    const valued = new Map(node.values.map((value) => [value.flag, value]));
    const files =
      node.complete === undefined
        ? []
        : [`${here} ${node.complete === 'file' ? '-F' : "-a '(__fish_complete_directories)'"}`];
    return [
      ...files,
      ...node.words.map(({ word, says }) => `${here} ${fishWord(word, valued.get(word))} -d ${quote(says)}`),
    ];
  });
  return `# berth completion for fish: berth completion fish | source
function __berth_at
  set -l line ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim -- "$line $word")
    contains -- "$longer" ${paths.join(' ')}; and set line $longer
  end
  test "$line" = "$argv[1]"
end
complete -c berth -f
${lines.join('\n')}
`;
};

const fishWord = (word: string, value: Node['values'][number] | undefined): string => {
  if (!word.startsWith('--')) return `-a ${quote(word)}`;
  const short = value?.short === undefined ? '' : ` -s ${value.short.slice(1)}`;
  if (value === undefined) return `-l ${word.slice(2)}`;
  if (value.choices.length > 0) return `-l ${word.slice(2)}${short} -x -a ${quote(value.choices.join(' '))}`;
  return `-l ${word.slice(2)}${short} ${value.complete === undefined ? '-x' : '-r -F'}`;
};

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "'\\''")}'`;
