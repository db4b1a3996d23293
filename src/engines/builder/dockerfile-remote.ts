import { type BerthError, invalidInput } from '#kernel/errors';

/** What BuildKit sets by itself: platforms, without a colon. */
const PREDEFINED = /^(?:TARGET|BUILD)(?:PLATFORM|OS|OSVERSION|ARCH|VARIANT)$/;
/** An ADD, ARG or ENV of more lines is not looked at, and believed to be the worst. */
const MOST_LINES = 200;
/** By then it is known which instruction it is. */
const LONGEST_KEYWORD = 64;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/|^[^/:\s]+@[^/:\s]+:/i;

/**
 * Refuses `ADD` of addresses: the engine fetches them itself, from the server's own network, where loopback ports, other
 * projects and a cloud's metadata answer. What a RUN fetches goes through the firewall. A variable may be part of a source
 * when nothing that it can stand for makes an address. `args` are the values that the build gets for its arguments.
 */
export const refuseRemoteAdds = (text: string, args: Record<string, string>): void => {
  if (!/\bADD\b/i.test(text.replaceAll(/[\\`]\r?\n/g, ''))) return;
  // Every line is looked at as if an instruction began there, whichever the escape character is.
  for (const escape of ['\\', '`']) {
    const found = instructions(text, escape);
    const values = definitions(found, escape, args);
    for (const { line, text: instruction } of found) {
      const rest = /^(?:ONBUILD\s+)?ADD\s+(.*)$/is.exec(instruction)?.[1];
      if (rest === undefined) continue;
      if (rest.endsWith(escape)) throw refuse(line, rest, 'write it in fewer lines');
      for (const source of sourcesOf(rest)) refuseAddress(source, values, line);
    }
  }
};

interface Instruction {
  line: number;
  text: string;
}

/** What begins in each line, joined with the lines that continue it. One without end keeps its escape character. */
const instructions = (text: string, escape: string): Instruction[] => {
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const trimmed = lines.map((line) => line.trimEnd());
  const continues = trimmed.map((line) => line.endsWith(escape));
  const parts = trimmed.map((line, index) => (continues[index] === true ? line.slice(0, -1) : line));
  const skipped = lines.map((line) => /^\s*(?:#|$)/.test(line));
  const joinedFrom = (index: number): string => {
    let joined = '';
    for (let at = index; at < lines.length; at += 1) {
      if (at > index && skipped[at] === true) continue;
      joined += parts[at] ?? '';
      if (continues[at] !== true || (joined.length < LONGEST_KEYWORD && !mayMatter(joined))) return joined;
      if (at - index > MOST_LINES) return joined + escape;
    }
    return joined;
  };
  return lines.flatMap((line, index) =>
    /^\s*[AEO]/i.test(line) ? [{ line: index + 1, text: joinedFrom(index).trim() }] : [],
  );
};

/** Whether an instruction that begins so is, or may become, one of those that count here. */
const mayMatter = (text: string): boolean => {
  const start = text.trimStart().toUpperCase();
  const word = start.replace(/^ONBUILD\s+/, '');
  return ['ONBUILD', 'ADD', 'ARG', 'ENV'].some((name) => name.startsWith(word) || word.startsWith(name));
};

/** For each name all that is written in the instructions that define it. */
const definitions = (
  found: readonly Instruction[],
  escape: string,
  args: Record<string, string>,
): Map<string, string[]> => {
  const values = new Map(Object.entries(args).map(([name, value]) => [name, [value]]));
  for (const { text } of found) {
    const rest = /^(?:ONBUILD\s+)?(?:ARG|ENV)\s+(.*)$/is.exec(text)?.[1];
    if (rest === undefined) continue;
    const value = rest.endsWith(escape) ? '$' : rest;
    for (const [, name = ''] of rest.matchAll(/(?:^|\s)([A-Za-z_]\w*)(?==|\s|$)/g)) {
      values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return values;
};

/** All words but the flags and the last, which is the target; quotes, escapes and the JSON form do not hide any. */
const sourcesOf = (rest: string): string[] =>
  rest
    .replaceAll(/[\\`"']/g, '')
    .replaceAll(/[[\],]/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && !word.startsWith('--'))
    .slice(0, -1);

const refuseAddress = (source: string, values: ReadonlyMap<string, string[]>, line: number): void => {
  if (ADDRESS.test(source)) {
    throw refuse(line, source, 'fetch it with RUN and curl, wget or git clone: that runs inside the build');
  }
  if (!source.includes('$')) return;
  const names = [...source.matchAll(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g)].map(
    ([, braced, bare]) => braced ?? bare ?? '',
  );
  const rest = source.replaceAll(/\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)/g, '');
  const plain = names.every((name) => {
    const known = values.get(name);
    return known === undefined ? PREDEFINED.test(name) : known.every((value) => !/[:$@]/.test(value));
  });
  if (!plain || /[:$@]/.test(rest))
    throw refuse(line, source, 'use COPY for files of the source: it never fetches anything');
};

const refuse = (line: number, source: string, hint: string): BerthError =>
  invalidInput(
    `line ${line} of the Dockerfile has the server itself fetch ${JSON.stringify(source.slice(0, 120))} for ADD`,
    hint,
  );
