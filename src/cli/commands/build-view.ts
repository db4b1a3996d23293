import type { PlannedBuild } from '#kernel/planned-build';

/** How a source would be built, as people read it: what there is to say, then why. */
export const buildText = (build: PlannedBuild): string => {
  const facts = factsOf(build).filter(([, values]) => values.length > 0);
  const rows = facts.flatMap(([name, values]) =>
    values.map((value, index) => `  ${(index === 0 ? name : '').padEnd(9)} ${value}`),
  );
  const why = build.decisions.length === 0 ? [] : ['', '  why', ...build.decisions.map((line) => `    ${line}`)];
  const warnings = build.warnings.map((line) => `  warning: ${line}`);
  return ['', ...rows, ...why, ...(warnings.length === 0 ? [] : ['', ...warnings])].join('\n');
};

const factsOf = (build: PlannedBuild): [string, string[]][] => [
  ['provider', [build.framework === null ? build.provider : `${build.provider}, ${build.framework}`]],
  ['root', build.root === '' ? [] : [build.root]],
  ['versions', [...build.versions.map(({ tool, version }) => `${tool} ${version}`), ...packageManager(build)]],
  ['install', build.install],
  ['build', build.build],
  ['start', command(build.start)],
  ['release', command(build.release_command ?? [])],
  ['site', build.static_root === null ? [] : [build.static_root || '.']],
  ['packages', aptLines(build.apt)],
];

const packageManager = ({ package_manager: chosen }: PlannedBuild): string[] =>
  chosen?.version ? [`${chosen.name} ${chosen.version}`] : [];

/** One command line of the words, quoted where a shell would need it. */
const command = (words: readonly string[]): string[] => {
  const [program, option, line] = words;
  // A line that was written for a shell is shown as it was written.
  if (words.length === 3 && program === '/bin/sh' && option === '-c' && line !== undefined) return [line];
  return words.length === 0 ? [] : [words.map(quoted).join(' ')];
};

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

const aptLines = ({ build, run }: PlannedBuild['apt']): string[] => {
  const only = build.filter((name) => !run.includes(name));
  return [
    ...(run.length === 0 ? [] : [run.join(' ')]),
    ...(only.length === 0 ? [] : [`${only.join(' ')} (for the build only)`]),
  ];
};
