import { type BerthError, invalidInput } from '#kernel/errors';

const LONGEST_TEXT = 512 * 1024;
/** A RUN with more flags than fit in here is refused: nothing honest has them. */
const LONGEST_FLAGS = 8 * 1024;

/**
 * Refuses what in a stranger's Dockerfile would reach beyond its build: the host's network, entitlements, an ssh agent,
 * and the JSON form, in which later BuildKits look for the name of a frontend of a stranger (CVE-2024-23653).
 */
export const refuseEscapes = (dockerfileText: string): void => {
  if (dockerfileText.length > LONGEST_TEXT) {
    throw invalidInput(
      `the Dockerfile is larger than ${LONGEST_TEXT / 1024} KiB`,
      'move its data into files beside it',
    );
  }
  const lines = dockerfileText.replace(/^\uFEFF/, '').split('\n');
  const first = lines.findIndex((line, index) => line.trim() !== '' && !(index === 0 && line.startsWith('#!')));
  if (lines[first]?.trimStart().startsWith('{')) throw refuse(first, 'is JSON', 'write a plain Dockerfile');
  // Comments and empty lines do not end a continued instruction.
  const skipped = lines.map((line) => /^\s*(?:#|$)/.test(line));
  // Every line is looked at as if an instruction began there, whichever the escape character is: so one that only seems
  // to be inside another instruction or a here-document is not overlooked.
  for (const [index, line] of lines.entries()) {
    if (!/^\s*[RO]/i.test(line)) continue;
    for (const escape of ['\\', '`']) refuseFlags(joinContinued({ lines, skipped, escape }, index), index);
  }
};

interface Text {
  lines: string[];
  skipped: boolean[];
  escape: string;
}

/** The instruction from this line on, as far as its flags can reach. */
const joinContinued = ({ lines, skipped, escape }: Text, from: number): string => {
  let joined = '';
  for (let index = from; index < lines.length; index += 1) {
    if (index > from && skipped[index] === true) continue;
    const text = (lines[index] ?? '').trimEnd().replace(/\s+/g, ' ');
    const continues = text.endsWith(escape);
    joined += continues ? text.slice(0, -1) : text;
    if (!continues || joined.length > LONGEST_FLAGS || !mayBecomeRun(joined)) break;
  }
  return joined.slice(0, LONGEST_FLAGS + 1);
};

/** Whether the text is, or may become with what follows, a RUN with flags. */
const mayBecomeRun = (text: string): boolean => {
  const start = text.trimStart().slice(0, 64).toUpperCase();
  const rest = start.replace(/^ONBUILD\s+/, '');
  return 'ONBUILD'.startsWith(start) || 'RUN'.startsWith(rest) || /^RUN\s*(?:$|\s-)/.test(rest);
};

const refuseFlags = (instruction: string, index: number): void => {
  const flags = /^\s*(?:ONBUILD\s+)?RUN((?:\s+--\S*)+)/i.exec(instruction)?.[1];
  if (flags === undefined) return;
  if (flags.length > LONGEST_FLAGS - 64) throw refuse(index, 'has too many flags', 'use fewer flags');
  for (const flag of flags.trim().split(/\s+/)) refuseFlag(flag.replace(/[\\`"']/g, '').toLowerCase(), index);
};

const refuseFlag = (flag: string, index: number): void => {
  const [name = '', ...rest] = flag.split('=');
  const value = rest.join('=');
  if (name === '--network' && value !== 'default' && value !== 'none') {
    throw refuse(index, `asks for the network ${JSON.stringify(value)}`, 'remove --network from the RUN');
  }
  if (name === '--security' && value !== 'sandbox') {
    throw refuse(index, `asks for the security mode ${JSON.stringify(value)}`, 'remove --security from the RUN');
  }
  if (name === '--device') throw refuse(index, 'asks for a device of the host', 'remove --device from the RUN');
  if (name === '--mount' && value.split(',').some((part) => /^type=.*(?:ssh|\$)/.test(part.trim()))) {
    throw refuse(index, 'asks for an ssh agent', 'fetch private sources with a token from the environment instead');
  }
};

const refuse = (index: number, why: string, hint: string): BerthError =>
  invalidInput(`line ${index + 1} of the Dockerfile ${why}`, hint);
