/** What failures of the common runtimes and build tools begin with: `TypeError: …`, `error: …`, `npm error …`, `panic: …`. */
const CAUSE = /(?:^|[\s:[(])(?:\w*(?:Error|Exception)|error|ERROR|panic|fatal|FATAL)(?=[\s:[(])/;

/** Where the first line stands that says why something failed; undefined when no line says so. */
export const causeLine = (text: string): { from: number; to: number } | undefined => {
  let from = 0;
  for (const line of text.split('\n')) {
    const to = from + line.length;
    if (CAUSE.test(line)) return { from, to };
    from = to + 1;
  }
  return undefined;
};
