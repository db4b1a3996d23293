import { type BerthError, invalidInput } from '#kernel/errors';

const COMMENT = /^\s*(?:#|$)/;
const LONGEST_INSTRUCTION = 64 * 1024;

/**
 * Refuses what in a stranger's Dockerfile would reach beyond its build: the host's network, entitlements, an ssh agent,
 * and the JSON form, in which later BuildKits look for the name of a frontend of a stranger (CVE-2024-23653).
 */
export const refuseEscapes = (dockerfileText: string): void => {
  const lines = dockerfileText.replace(/^\uFEFF/, '').split('\n');
  const first = lines.find((line, index) => line.trim() !== '' && !(index === 0 && line.startsWith('#!')));
  if (first?.trimStart().startsWith('{')) throw refuse(lines.indexOf(first), 'is JSON', 'write a plain Dockerfile');
  // Every line is looked at as if an instruction began there, whichever the escape character is: so one that only seems
  // to be inside another instruction or a here-document is not overlooked.
  for (const [index, line] of lines.entries()) {
    if (!/^\s*[RO]/i.test(line)) continue;
    for (const escape of ['\\', '`']) refuseFlags(joinContinued(lines, index, escape), index);
  }
};

const joinContinued = (lines: string[], from: number, escape: string): string => {
  let joined = '';
  for (let index = from; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (index > from && COMMENT.test(line)) continue;
    const text = line.trimEnd();
    const continues = text.endsWith(escape);
    joined += continues ? text.slice(0, -1) : text;
    if (!continues || joined.length > LONGEST_INSTRUCTION) break;
  }
  return joined;
};

const refuseFlags = (instruction: string, index: number): void => {
  const flags = /^\s*(?:ONBUILD\s+)?RUN((?:\s+--\S*)+)/i.exec(instruction)?.[1];
  if (flags === undefined) return;
  if (flags.length > LONGEST_INSTRUCTION / 2) throw refuse(index, 'has too many flags', 'use fewer flags');
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
