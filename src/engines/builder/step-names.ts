const LONGEST_STEP = 300;

/** Mounts that berth adds to the steps of its own Dockerfiles. */
const OWN_MOUNTS = /--mount=type=(?:cache,id=berth-|bind,source=berth\/)\S* /g;

/** What berth runs around the commands of a plan: nobody wrote it, and it explains no failure. */
const OWN_COMMANDS: [RegExp, string][] = [
  [/^set -a && \. \/run\/berth\/env && set \+a && /, ''],
  [/^export GIT_CONFIG_COUNT=.*? && /, ''],
  [/^export RUSTUP_TOOLCHAIN="[^"]*" && /, ''],
  [/^find \S+ -path \S+ -prune -o -type f -exec touch \{\} \+ && /, ''],
  [/^\{ (.*) \|\| echo 'the dependencies are built together with the sources'; \}$/, '$1 (dependencies)'],
  [/ && mkdir (?:-p )?\/out\b.*$/, ''],
];

/** A build step as people know it: `[build 2/2] RUN npm run build`, whatever berth put around the command. */
export const stepName = (vertex: string): string => {
  const line = vertex.replace(/\s+/g, ' ').trim();
  const run = /^(\[[^\]]*\] RUN )(.*)$/.exec(line);
  const name = run === null ? line : `${run[1]}${plainCommand(run[2] ?? '')}`;
  return name.length > LONGEST_STEP ? `${name.slice(0, LONGEST_STEP)}…` : name;
};

const plainCommand = (text: string): string =>
  OWN_COMMANDS.reduce((command, [own, rest]) => command.replace(own, rest), shellText(text.replace(OWN_MOUNTS, '')));

/** The command inside `["/bin/sh","-c","…"]`, the form that commands with odd characters get. */
const shellText = (text: string): string => {
  if (!text.startsWith('["/bin/sh","-c","')) return text;
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.length === 3 ? String(words[2]).replace(/\s+/g, ' ') : text;
  } catch {
    return text;
  }
};

/** What tells a step from the others of its build, in short: `[build 2/2]`. */
export const stepLabel = (name: string): string => /^\[[^\]]+\]/.exec(name)?.[0] ?? `${name}:`;
