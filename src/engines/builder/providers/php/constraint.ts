/** A constraint of Composer as a semver range: `^8.1 || ~8.0.2`, `>= 7.4, < 8.4`, `8.2.*`, `~8.1` (which is below 9). */
export const composerRange = (written: string): string => written.slice(0, 200).split(/\|\|?/).map(allOf).join(' || ');

const allOf = (group: string): string => {
  const text = group.trim();
  if (/^\S+\s+-\s+\S+$/.test(text)) return text.replaceAll(/(^|\s)v(?=\d)/g, '$1');
  const clauses = text.replaceAll(/([<>=!~^]+)\s+/g, '$1').split(/[\s,]+/);
  return (
    clauses
      .map(clauseRange)
      .filter((clause) => clause !== '')
      .join(' ') || '*'
  );
};

const clauseRange = (clause: string): string => {
  // Stability (`@dev`) says nothing about numbers.
  const text = clause
    .replace(/@\w+$/, '')
    .replace(/^([<>=!~^]*)v(?=\d)/, '$1')
    .replace(/^==?(?=\d)/, '');
  if (text.startsWith('!=') || text.startsWith('<>')) return '';
  const tilde = /^~(\d+)(?:\.(\d+))?(\.\d+)?/.exec(text);
  if (tilde) {
    const [, major = '0', minor, patch] = tilde;
    return patch === undefined
      ? `>=${major}.${minor ?? '0'}.0 <${Number(major) + 1}.0.0`
      : `>=${major}.${minor}${patch} <${major}.${Number(minor) + 1}.0`;
  }
  // Versions of four parts are Composer's own: the fourth is left out.
  return text.replaceAll(/(\d+\.\d+\.\d+)\.(\d+|\*)/g, '$1').replaceAll('.*', '.x');
};
