/** What tools say at the end of every failure, and explains none. */
const NOISE = [
  /^npm (?:notice|warn)\b/,
  /^npm (?:error|ERR!)(?: A complete log of this run| *$|.*\/_logs\/| For a full report see)/,
  // npm ci ends with its whole manual.
  /^npm error (?: {2,}(?:-|[A-Z`_])|\[-|Options:$|Usage:$|npm ci$|Clean install a project$|aliases: |Run "npm help)/,
  /^npm error {5}/,
  /^info Visit https:\/\/yarnpkg\.com/,
  /^\[notice\] /,
  /^WARNING: Running pip as the 'root' user/,
  /^\[ERROR\] *$/,
  /^\[ERROR\] (?:-> \[Help|\[Help \d|To see the full stack trace|Re-run Maven|For more information about the errors|After correcting the problems)/,
  /^> (?:Run with --|Get more help at)/,
  /^\* (?:Try:|Get more help at)/,
  /^note: run with `RUST_BACKTRACE/,
  /^For more information about (?:this error|an error), try `rustc/,
  /^go: downloading /,
  /^ {2,}(?:Downloaded|Compiling|Downloading) \S+ v\d/,
  /^(?:Get|Hit|Ign):\d+ http/,
  /^\[INFO\] (?:-{3,}|Download(?:ing|ed) from|$|Total time:|Finished at:)/,
  /^Download(?:ing|ed) from /,
];

/** The last lines of a step that matter, without what only fills the screen. */
export const usefulTail = (lines: readonly string[]): string[] => {
  const kept = lines.filter(
    (line, index) =>
      !NOISE.some((noise) => noise.test(line)) && !(line.trim() === '' && (lines[index - 1] ?? '').trim() === ''),
  );
  while (kept.length > 0 && kept.at(-1)?.trim() === '') kept.pop();
  while (kept.length > 0 && kept[0]?.trim() === '') kept.shift();
  return kept.length > 0 ? kept : [...lines];
};
