/** Where a tool says that something is wrong, and what. */
export interface Place {
  file: string;
  line: string;
  message: string;
}

/** The first place in the source that the output of a failed step blames. */
export const findPlace = (lines: readonly string[]): Place | undefined => {
  for (const [index, line] of lines.entries()) {
    const place = inOneLine(line) ?? beside(lines, index);
    if (place !== undefined && !FOREIGN.test(place.file)) return tidy(place);
  }
  return pythonPlace(lines);
};

/** `file:line`, as people write it. */
export const placeText = ({ file, line }: Place): string => `${file}:${line}`;

/** Code that is not the user's own. */
const FOREIGN =
  /(^|\/)(node_modules|site-packages|dist-packages|go\/pkg\/mod|usr\/(?:local\/)?lib|\.cargo|registry\/src)\//;

const ONE_LINE = [
  // tsc, vue-tsc, dotnet
  /^\s*(?<file>[^\s():]+\.\w+)\((?<line>\d+),\d+\): error (?<message>\w+: .*?)(?: \[[^\]]*proj\])?$/,
  /^(?<file>\S+\.[cm]?[jt]sx?):(?<line>\d+):\d+ - error (?<message>.*)$/,
  // gcc, clang, javac, swift, zig, dart, older esbuild
  /^(?:vite:esbuild )?(?<file>[^\s:]+\.\w+):(?<line>\d+):(?:\d+:)? (?:fatal )?error: (?<message>.*)$/i,
  // go
  /^(?:vet: )?(?<file>[^\s:]+\.go):(?<line>\d+):(?:\d+:)? (?<message>.*)$/,
  /^(?:go: (?:errors parsing )?)?(?<file>go\.(?:mod|work)):(?<line>\d+): (?<message>.*)$/,
  // maven, then kotlin and gradle
  /^\[ERROR\] (?<file>\/\S+\.\w+):\[(?<line>\d+),\d+\] (?:error: )?(?<message>.*)$/,
  /^e: (?:file:\/\/)?(?<file>\/\S+\.kts?):(?: \()?(?<line>\d+)[:,] ?\d+\)?:? (?<message>.*)$/,
  // rollup
  /^(?:error during build:\s*)?(?<file>[^\s()]+\.\w+) \((?<line>\d+):\d+\): (?<message>.*)$/,
  // php, elixir
  /^(?:PHP )?(?:Parse|Fatal|Compile) error:\s+(?<message>.*) in (?<file>\S+) on line (?<line>\d+)$/,
  /^\*\* \((?<kind>\w+Error)\) (?<file>[^\s:]+\.exs?):(?<line>\d+):(?:\d+:)? (?<message>.*)$/,
];

const inOneLine = (line: string): Place | undefined => {
  for (const pattern of ONE_LINE) {
    const { file, line: number, message } = pattern.exec(line)?.groups ?? {};
    if (file !== undefined && number !== undefined) return { file, line: number, message: message ?? '' };
  }
  return undefined;
};

/** A place on a line of its own, with what is wrong on a line above or below. */
const BESIDE: { place: RegExp; message: RegExp; above: boolean }[] = [
  // rustc
  { place: /^\s*--> (?<file>[^\s:]+):(?<line>\d+):\d+$/, message: /^error(?:\[\w+\])?: (?<message>.*)$/, above: true },
  // elixir
  { place: /^\s*└─ (?<file>[^\s:]+\.exs?):(?<line>\d+)/, message: /^\s*error: (?<message>.*)$/, above: true },
  // esbuild
  { place: /^\s{2,}(?<file>[^\s:]+\.\w+):(?<line>\d+):\d+:$/, message: /^✘ \[ERROR\] (?<message>.*)$/, above: true },
  // Next.js, webpack
  {
    place: /^(?:ERROR in )?\.\/(?<file>[^\s:]+\.\w+)[: ](?<line>\d+):\d+\S*$/,
    message: /^(?<message>\S.*)$/,
    above: false,
  },
  // vite
  {
    place: /^file: (?<file>[^\s:]+\.\w+):(?<line>\d+):\d+$/,
    message: /^(?:error during build:|\[vite[^\]]*\])?\s*(?<message>\S.*)$/,
    above: true,
  },
  // gradle's own files
  {
    place: /^(?:Build|Settings) file '(?<file>[^']+)' line: (?<line>\d+)$/,
    message: /^(?<message>[^*\s].*)$/,
    above: false,
  },
  // node
  { place: /^(?<file>\/[^\s:]+\.[cm]?[jt]s):(?<line>\d+)$/, message: /^(?<message>\w*Error\b.*)$/, above: false },
];

const NEAR = 8;

const beside = (lines: readonly string[], index: number): Place | undefined => {
  const text = lines[index] ?? '';
  for (const { place, message, above } of BESIDE) {
    const { file, line } = place.exec(text)?.groups ?? {};
    if (file === undefined || line === undefined) continue;
    const around = above
      ? lines.slice(Math.max(0, index - NEAR), index).toReversed()
      : lines.slice(index + 1, index + NEAR);
    const said = around.map((each) => message.exec(each)?.groups?.['message']).find((each) => each !== undefined);
    if (said !== undefined) return { file, line, message: said };
  }
  return undefined;
};

/** A traceback ends with the error; the last frame in the user's own code is where to look. */
const pythonPlace = (lines: readonly string[]): Place | undefined => {
  const start = lines.findLastIndex((line) => line.startsWith('Traceback (most recent call last)'));
  const frames = lines.flatMap((text, index) => {
    const { file, line } = /^\s*(?:\*\*\* )?File "(?<file>[^"]+)", line (?<line>\d+)/.exec(text)?.groups ?? {};
    return file === undefined || line === undefined || index < start || FOREIGN.test(file) || file.startsWith('<')
      ? []
      : [{ file, line, index }];
  });
  const last = frames.at(-1);
  const message = lines.slice(last?.index).find((text) => /^(?:[\w.]+)?(?:Error|Exception)\b/.test(text));
  return last === undefined || message === undefined ? undefined : tidy({ ...last, message });
};

const tidy = ({ file, line, message }: Place): Place => ({
  file: file.replace(/^(?:\/app\/|\.\/)/, ''),
  line,
  message: message.trim().slice(0, 300),
});
