/**
 * What holds for every git that berth starts, in command scope: above the repository's own file, so that one which was
 * changed by hand or by an attack changes none of it. Meanings: git-config(1).
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  'safe.directory': '*',
  'safe.bareRepository': 'all',

  // Nothing but git itself runs, and it talks to nobody; `mirror` opens https for itself.
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  // Asked for the refs of alternates, which a push in its quarantine has: those of the repository itself.
  'core.alternateRefsCommand': 'true',
  'protocol.allow': 'never',
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'credential.helper': '',

  // What comes in is checked: `.git` in trees, links as .gitmodules, broken objects.
  'transfer.fsckObjects': 'true',
  'receive.fsckObjects': 'true',
  'fetch.fsckObjects': 'true',
  // Harmless slips in the history of old repositories, which other hosts accept too.
  ...tolerate('badTimezone', 'missingSpaceBeforeDate', 'zeroPaddedFilemode'),

  'receive.advertisePushOptions': 'true',
  'receive.denyCurrentBranch': 'ignore',
  'receive.denyDeleteCurrent': 'refuse',
  // Packs as they come: one file to flush to the disk instead of one for each object.
  'receive.unpackLimit': '1',
  'fetch.unpackLimit': '1',
  'fastimport.unpackLimit': '1',
  'uploadpack.allowFilter': 'true',
  // Protocol v2 serves any object that is wanted by its id; partial clones with v0 need the same.
  'uploadpack.allowAnySHA1InWant': 'true',
  // Costs minutes of processor time without a bitmap that could help.
  'uploadpackfilter.sparse:oid.allow': 'false',

  // Acknowledged means on the disk.
  'core.fsync': 'committed,derived-metadata',
  'core.fsyncMethod': 'batch',
  'core.logAllRefUpdates': 'false',

  // berth maintains, see maintain.ts.
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'receive.autoGC': 'false',
  'fetch.writeCommitGraph': 'false',
  'repack.writeBitmaps': 'true',

  // Memory stays flat: large files are streamed, never compared.
  'core.bigFileThreshold': '16m',
  'core.deltaBaseCacheLimit': '64m',
  'pack.threads': '2',
  'pack.windowMemory': '64m',
  'pack.deltaCacheSize': '64m',

  'core.quotePath': 'false',
  'color.ui': 'false',
  'init.templateDir': '',
};

function tolerate(...findings: string[]): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const finding of findings)
    for (const scope of ['fsck', 'receive.fsck', 'fetch.fsck']) settings[`${scope}.${finding}`] = 'ignore';
  return settings;
}

/** The whole environment of a git process: nothing of berth's own comes in. */
export const gitEnvironment = (
  settings: Readonly<Record<string, string>>,
  extra: Readonly<Record<string, string>>,
): Record<string, string> => {
  const entries = Object.entries({ ...SETTINGS, ...settings });
  const environment: Record<string, string> = { ...ENVIRONMENT, GIT_CONFIG_COUNT: String(entries.length) };
  entries.forEach(([key, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = key;
    environment[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return { ...environment, ...extra };
};

const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  TZ: 'UTC',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_PROTOCOL_FROM_USER: '0',
  GIT_NO_LAZY_FETCH: '1',
  // What somebody pushed below refs/replace changes no reading.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_OPTIONAL_LOCKS: '0',
  // Of one allocation: an object that claims to be huge ends git, and not the server.
  GIT_ALLOC_LIMIT: '1g',
};
