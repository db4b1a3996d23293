import { invalidInput } from '#kernel/errors';

/** A string as one word of a POSIX shell. */
export const shellQuote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

const SPECIAL = /[$`\\;&|<>()*?[\]{}~#!\n\r]/;

/**
 * The words of a command that needs no shell (quotes are understood), or undefined when it does: then it has variables,
 * pipes, globs or anything else that only a shell may read.
 */
export const simpleWords = (command: string): string[] | undefined => {
  const words: string[] = [];
  const pattern = /[ \t]*(?:'([^'\n]*)'|"([^"$`\\\n]*)"|([^\s'"]+))(?=[ \t]|$)/gy;
  const text = command.trim();
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (!match) return undefined;
    const bare = match[3];
    if (bare !== undefined && SPECIAL.test(bare)) return undefined;
    words.push(match[1] ?? match[2] ?? bare ?? '');
  }
  const first = words[0];
  return first === undefined || isAssignment(first) || BUILTINS.test(first) ? undefined : words;
};

/** What a container runs for a command line: the program itself where possible, so that it gets the stop signal. */
export const commandToArgv = (command: string): string[] => {
  if (command.includes('\0')) throw invalidInput('a command holds a NUL byte', 'remove it from the command');
  return simpleWords(command) ?? ['/bin/sh', '-c', withExec(command.trim())];
};

/** Argv for several commands in order, of which the last replaces the shell. */
const withExec = (command: string): string => {
  const parts = splitLast(command);
  if (parts === undefined) return command;
  const { before, last } = parts;
  if (!/^[\w./$"'{}-]/.test(last) || BUILTINS.test(last)) return command;
  return `${before}exec ${isAssignment(last) ? 'env ' : ''}${last}`;
};

/** Reserved words and built-ins (POSIX.1-2017, XCU 2.4, 2.14 and 1.6), which `exec` cannot start, and functions. */
const BUILTINS =
  /^(cd|export|exec|if|for|while|until|case|set|ulimit|umask|source|eval|trap|unset|read|test|command|wait|exit|return|shift|break|continue|readonly|times|alias|unalias|getopts|hash|type|jobs|fg|bg|local|\.)(\s|$)|^[{(]|^\w+\s*\(/;

const isAssignment = (word: string): boolean => /^[A-Za-z_]\w*=/.test(word);

/** Splits at the last `&&` outside quotes; undefined when anything in it cannot be followed by eye. */
const splitLast = (command: string): { before: string; last: string } | undefined => {
  let quote = '';
  let cut = 0;
  for (let index = 0; index < command.length; index += 1) {
    const char = command[index] ?? '';
    if (quote !== '') {
      if (char === quote) quote = '';
      continue;
    }
    if (char === "'" || char === '"') quote = char;
    else if (command.startsWith('&&', index)) {
      index += 1;
      cut = index + 1;
    } else if (/[;&|\n\r()`\\#]/.test(char)) return undefined;
  }
  if (quote !== '') return undefined;
  const last = command.slice(cut).trimStart();
  return last === '' ? undefined : { before: command.slice(0, command.length - last.length), last };
};
