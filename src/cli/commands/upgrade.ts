import { isCompiled, mayReplace, ownExecutable, replaceExecutable, sha256OfFile } from '#kernel/executable-file';
import { ownPlatform } from '#kernel/platform';
import type { ReleaseExecutable, ReleaseManifest } from '#kernel/release-manifest';
import type { Api } from '../client/api.ts';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { CliFailure, localError } from '../failure.ts';
import { bytes as size } from '../output/format.ts';
import type { Standing } from '../self/standing.ts';
import { VERSION } from '../version.ts';

export const upgrade = defineCommand({
  name: 'upgrade',
  summary: "Bring this client to the version of the server's",
  details: [
    'Downloads the executable from the server that you use, checks it, starts it once, and puts it in the place of this one in one step. When anything fails, this one stays.',
    'The server itself is upgraded on its machine: berth server upgrade.',
  ],
  examples: [
    { line: 'berth upgrade', says: 'from the server you use' },
    { line: 'berth upgrade --check', says: 'only say whether there is another version' },
    { line: 'berth upgrade --endpoint https://apps.example.com', says: 'from another server; no token is needed' },
  ],
  scope: 'server',
  args: {},
  flags: {
    check: { type: 'boolean', summary: 'only say whether the server has another version' },
    'dry-run': { type: 'boolean', summary: 'show what would be replaced, and change nothing' },
    force: { type: 'boolean', summary: 'replace this client also by an older one, or by the same version' },
  },
  run: async (context, { flags }) => {
    const { endpoint } = await context.server();
    const api = await context.api();
    const found = await look(api, endpoint);
    const { standing, offered, executable } = found;
    const facts = { current: VERSION, offered, standing, server: endpoint };
    if (flags.check) return context.out.data(facts, () => checkText(found, endpoint));
    if (!isNeeded(found, flags.force)) {
      return context.out.data({ ...facts, upgraded: false }, () => `berth ${VERSION} is what ${endpoint} has too`);
    }
    const place = await placeToReplace(endpoint);
    if (flags['dry-run']) return planned(context, place, found);
    await replace(context, api, { place, executable, version: offered });
    return context.out.data({ ...facts, upgraded: true, path: place }, () => `berth ${offered} is installed: ${place}`);
  },
});

interface Found {
  standing: Standing;
  offered: string;
  executable: ReleaseExecutable;
}

const look = async (api: Api, endpoint: string): Promise<Found> => {
  const platform = ownPlatform();
  const manifest = await manifestOf(api, endpoint);
  const executable = manifest.executables.find((each) => each.platform === platform);
  if (executable === undefined) {
    throw localError(
      `${endpoint} has no client for ${platform ?? `${process.platform}-${process.arch}`}`,
      'ask its operator to add it, on the machine of the server: berth server downloads FROM',
    );
  }
  const { standingOf } = await import('../self/standing.ts');
  const own = { version: VERSION, sha256: isCompiled() ? await sha256OfFile(process.execPath) : '' };
  const standing = standingOf(own, { version: manifest.version, sha256: executable.sha256 });
  return { standing, offered: manifest.version, executable };
};

const manifestOf = async (api: Api, endpoint: string): Promise<ReleaseManifest> => {
  try {
    return await api.clientManifest();
  } catch (thrown) {
    if (!(thrown instanceof CliFailure) || thrown.status !== 404) throw thrown;
    throw localError(
      `${endpoint} hands out no clients: it is older than that`,
      'upgrade the server first, on its machine: berth server upgrade',
      thrown,
    );
  }
};

/** The same version from another build is no reason by itself: servers are built from source, and builds differ. */
const isNeeded = ({ standing, offered }: Found, force: boolean): boolean => {
  if (standing === 'newer') return true;
  if (standing === 'older' && !force) {
    throw localError(
      `the server has berth ${offered}, which is older than this ${VERSION}`,
      'keep this one: it works with older servers. To replace it all the same, add --force',
    );
  }
  return force && standing !== 'same';
};

const checkText = ({ standing, offered }: Found, endpoint: string): string => {
  if (standing === 'newer') return `berth ${offered} is there; this is ${VERSION}. Run: berth upgrade`;
  if (standing === 'older') return `this berth ${VERSION} is newer than what ${endpoint} has: ${offered}`;
  return `berth ${VERSION} is what ${endpoint} has too`;
};

const placeToReplace = async (endpoint: string): Promise<string> => {
  const place = await ownExecutable();
  if (place === undefined) {
    throw localError(
      'this client runs from its source, and is no executable to replace',
      `update the checkout (git pull), or install the executable: curl -fsSL ${endpoint}/install.sh | sh`,
    );
  }
  if (await mayReplace(place)) return place;
  throw localError(
    `you may not replace ${place}`,
    `run it as its owner (sudo berth upgrade --endpoint ${endpoint}), or through the package manager that put it there; or install one of your own: curl -fsSL ${endpoint}/install.sh | sh`,
  );
};

const planned = (context: Context, place: string, { offered, executable }: Found): void => {
  const change = { action: 'replace', resource: 'executable', name: place, from: VERSION, to: offered };
  const summary = `would replace ${place}: berth ${VERSION} by ${offered}, ${size(executable.bytes)}`;
  context.out.data({ dry_run: true, plan: { summary, changes: [change] } }, () => summary);
};

interface Replacement {
  place: string;
  executable: ReleaseExecutable;
  version: string;
}

const replace = async (context: Context, api: Api, { place, executable, version }: Replacement): Promise<void> => {
  const { checkRuns, fetchExecutable } = await import('../self/fetch-executable.ts');
  const { bytes } = executable.packed.find(({ packing }) => packing === 'zstd') ?? executable;
  context.out.note(`downloading berth ${version} (${size(bytes)})`);
  await replaceExecutable(place, async (file) => {
    await fetchExecutable(api.downloadClient, executable, file);
    await checkRuns(file, version);
  });
};
