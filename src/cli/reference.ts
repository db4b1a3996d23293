import { COMMON_FLAGS, scopeFlags, type Command, type FlagSpecs } from './command.ts';
import { argUsage, flagSummary, flagUsage, usageLine, type Chapter } from './help.ts';

const PREFACE = `# The command line

<!-- Generated from the definitions in src/cli/commands: berth help --markdown > docs/cli.md -->

\`berth\` is a thin client of the HTTP API, and the server, in one executable.

- **Which server**: \`--endpoint\` and \`--token\`, else \`SERVICE_ENDPOINT\` and \`SERVICE_TOKEN\`, else the profile that \`berth login\` saved
  (\`$XDG_CONFIG_HOME/berth/config.json\`, mode 0600). A saved token is sent to its own server only.
- **Which project and service**: \`--project\` and \`--service\`, else \`.service/config.json\` of the folder or one above it.
- **Output**: data on stdout, everything else on stderr. Without a terminal on stdout, or with \`--json\`, data is JSON and an error on stderr
  is one JSON object \`{code, message, hint, retryable}\`: the API's own codes, or \`USAGE\`, \`UNREACHABLE\`, \`INTERRUPTED\`, \`LOCAL_ERROR\`
  for faults on this side. Streams and deploys print one object a line. \`NO_COLOR\` turns colours off.
- **Exit codes**: 0 done · 1 failed · 2 wrong usage · 130 interrupted.
- **Retries**: what the server calls retryable, and lost connections, are tried again up to three times; every change carries an
  \`Idempotency-Key\`, so that it happens once. Streams go on where they broke off.
`;

/** docs/cli.md, whole. */
export const reference = (chapters: readonly Chapter[]): string =>
  `${[PREFACE.trimEnd(), ...chapters.map(chapterText), `## Flags of every command\n\n${flagTable({ ...scopeFlags('service'), ...COMMON_FLAGS })}`].join('\n\n')}\n`;

const chapterText = (chapter: Chapter): string =>
  [
    `## ${chapter.title}`,
    ...chapter.entries.flatMap((entry) =>
      entry.kind === 'command'
        ? [commandText(entry, `berth ${entry.name}`)]
        : entry.commands.map((command) => commandText(command, `berth ${entry.name} ${command.name}`)),
    ),
  ].join('\n\n');

const commandText = (command: Command, path: string): string => {
  const parts = [`### ${path}`, `${command.summary}.`, `\`\`\`\n${usageLine(command, path)}\n\`\`\``];
  parts.push(...(command.details ?? []));
  const args = Object.entries(command.args).map(
    ([name, spec]) => `| \`${argUsage(name, spec)}\` | ${cell(spec.summary)} |`,
  );
  if (args.length > 0) parts.push(`| argument | |\n|---|---|\n${args.join('\n')}`);
  if (Object.keys(command.flags).length > 0) parts.push(flagTable(command.flags));
  parts.push(`\`\`\`sh\n${command.examples.map((example) => `# ${example.says}\n${example.line}`).join('\n')}\n\`\`\``);
  return parts.join('\n\n');
};

const flagTable = (flags: FlagSpecs): string =>
  `| flag | |\n|---|---|\n${Object.entries(flags)
    .map(([name, spec]) => `| \`${flagUsage(name, spec)}\` | ${cell(flagSummary(spec))} |`)
    .join('\n')}`;

const cell = (text: string): string => text.replaceAll('|', '\\|');
