import { COMMON_FLAGS, scopeFlags, type Command, type FlagSpecs } from './command.ts';
import { argUsage, flagSummary, flagUsage, usageLine, type Chapter } from './help.ts';

const PREFACE = `# The command line

<!-- Generated from the definitions in src/cli/commands: berth help --markdown > docs/cli.md -->

\`berth\` is a thin client of the HTTP API, and the server, in one executable. Every operation of the API has a command; each command says
below which ones it is the way to.

## Which server

\`--endpoint\` and \`--token\`, else \`SERVICE_ENDPOINT\` and \`SERVICE_TOKEN\`, else the profile: \`berth login\` saves one for each server
(\`--profile NAME\`), \`berth use\` chooses, \`BERTH_PROFILE\` or \`--profile\` does for one command, \`berth logout\` forgets. They are in
\`$XDG_CONFIG_HOME/berth/config.json\`, mode 0600: one that others can read is made private, with a warning. A saved token is sent to its own
server only.

A server with a certificate of a private authority is trusted through \`--ca FILE\` (\`BERTH_CA\`, or \`NODE_EXTRA_CA_CERTS\`); \`berth login --ca\`
saves it. \`HTTPS_PROXY\`, \`HTTP_PROXY\` and \`NO_PROXY\` are honoured.

Project and service are \`--project\` and \`--service\`, else those in \`.service/config.json\` of the folder or one above it.

## Output and exit codes

Data is on stdout, everything else on stderr. Without a terminal on stdout, or with \`--json\`, data is JSON, and an error on stderr is one JSON
object \`{code, message, hint, retryable}\`: the API's own codes, or one of those for faults on this side. Streams and deploys print one object a
line; documents (\`berth openapi\`, \`skill\`, \`metrics\`, \`completion\`) are printed as they are. A list is one page, with \`next_cursor\`; \`--all\` reads every page. Fields and codes may come with a newer server: ignore those that you
do not know.

| exit code | \`code\` | |
|---|---|---|
| 0 | | done |
| 1 | those of the API, \`UNREACHABLE\`, \`LOCAL_ERROR\` | failed: refused by the server, no server, or a fault of this machine |
| 2 | \`USAGE\` | wrong usage; nothing was sent |
| 130 | \`INTERRUPTED\` | Ctrl-C; an operation that was accepted goes on |

\`berth db shell\`, \`berth clone\` end with the code of the program that they run.

Colours are shown on terminals, unless \`NO_COLOR\` is set or \`TERM\` is \`dumb\`; \`FORCE_COLOR\` shows them elsewhere. What destroys asks for a
name on a terminal, and wants \`--yes\` elsewhere.

What the server calls retryable, and lost connections, are tried again up to three times with growing pauses, or after the \`Retry-After\` of
the server; every change carries an \`Idempotency-Key\`, so that it happens once. Streams go on where they broke off.

## In CI

\`\`\`sh
export SERVICE_ENDPOINT=https://api.example.com SERVICE_TOKEN=…  # a secret: berth tokens create ci --can deploy --can read --for shop
berth deploy -p shop -s web --commit "$GIT_COMMIT" > deploy.jsonl || exit 1
tail -n 1 deploy.jsonl | jq -r .service_url
\`\`\`
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
  if (command.operations.length > 0)
    parts.push(`Operations of the API: ${command.operations.map((id) => `\`${id}\``).join(', ')}`);
  parts.push(`\`\`\`sh\n${command.examples.map((example) => `# ${example.says}\n${example.line}`).join('\n')}\n\`\`\``);
  return parts.join('\n\n');
};

const flagTable = (flags: FlagSpecs): string =>
  `| flag | |\n|---|---|\n${Object.entries(flags)
    .map(([name, spec]) => `| \`${flagUsage(name, spec)}\` | ${cell(flagSummary(spec))} |`)
    .join('\n')}`;

const cell = (text: string): string => text.replaceAll('|', '\\|');
