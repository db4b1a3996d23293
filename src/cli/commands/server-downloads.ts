import { rm, stat } from 'node:fs/promises';
import { messageOf } from '#kernel/errors';
import { ownExecutable } from '#kernel/executable-file';
import { downloadsFolder } from '#kernel/downloads-folder';
import { ownPlatform } from '#kernel/platform';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { CliFailure, localError } from '../failure.ts';
import type { Clients } from '../releases/clients.ts';
import type { Release } from '../releases/release.ts';
import { VERSION } from '../version.ts';
import { configFrom, PLACE } from './server-config.ts';

const NEXT = 'berth server downloads FROM';

export const downloads = defineCommand({
  name: 'downloads',
  summary: 'Give the server the clients of all platforms to hand out',
  details: [
    "On the machine of the server, as its user. /install.sh, /dl and berth upgrade hand out the clients of the server's own version: that of its own platform always, the others when they are there. install.sh and berth server upgrade bring them along when they know where from; this brings them later. They are checked against their checksums, and exchanged in one step; the server needs no restart.",
  ],
  examples: [
    { line: 'sudo berth server downloads https://downloads.example.com/', says: 'from where the server came from' },
    { line: 'sudo berth server downloads https://other.example.com', says: 'what another server hands out' },
    { line: 'sudo berth server downloads ./dist/downloads', says: 'what "bun run build" wrote' },
  ],
  scope: 'none',
  args: { from: { summary: 'a folder with manifest.json, its address, or that of a server', complete: 'directory' } },
  flags: PLACE,
  run: async (context, { args, flags }) => {
    const { downloadsDir } = configFrom(context, flags);
    const executable = await ownExecutable();
    const [release, { takeClients }] = await Promise.all([
      releaseFrom(context, args.from),
      import('../releases/clients.ts'),
    ]);
    const folder = downloadsFolder(downloadsDir, executable);
    const server = { folder, version: VERSION, platform: ownPlatform(), executable };
    const taken = await takeClients(release, server, context.out.note);
    context.out.data(taken, () => textOf(taken));
    warnOfMissing(context, taken);
  },
});

const releaseFrom = async (context: Context, from: string): Promise<Release> => {
  const { isUrl, releaseAt, releaseIn } = await import('../releases/release.ts');
  if (isUrl(from)) return releaseAt(context, from);
  const path = context.path(from);
  if ((await stat(path).catch(() => undefined)) === undefined)
    throw localError(
      `there is no folder ${path}`,
      'name a folder with manifest.json, its address, or that of a server',
    );
  const release = await releaseIn(path);
  if (release !== undefined) return release;
  throw localError(
    `${path} has no manifest.json that lists executables`,
    'name a folder as "bun run build" writes it (dist/downloads), its address, or that of a server',
  );
};

const textOf = ({ platforms, version, folder, changed }: Clients): string =>
  `${changed ? 'the server hands out' : 'the server has already'} the clients of berth ${version} for ${platforms.join(', ')}: ${folder}`;

const warnOfMissing = ({ out }: Context, { missing }: Clients): void => {
  if (missing.length > 0)
    out.warn(`there is no client for ${missing.join(', ')}: whoever asks there is told so; to add them: ${NEXT}`);
};

/** After an upgrade: those of the new version, where they can be had. What fails here is said, and undoes nothing. */
export const renewClients = async (
  context: Context,
  release: Release | undefined,
  { executable, version, downloadsDir }: { executable: string; version: string; downloadsDir: string },
): Promise<Clients | null> => {
  const { holdsVersion, takeClients } = await import('../releases/clients.ts');
  const folder = downloadsFolder(downloadsDir, executable);
  try {
    if (release !== undefined) {
      const taken = await takeClients(
        release,
        { folder, version, platform: ownPlatform(), executable },
        context.out.note,
      );
      warnOfMissing(context, taken);
      return taken;
    }
    if (await holdsVersion(folder, version)) return null;
    if (downloadsDir === '') await rm(folder, { recursive: true, force: true });
    context.out.warn(`the server hands out the client of this platform only; for the others: ${NEXT}`);
  } catch (thrown) {
    const hint = thrown instanceof CliFailure ? `; ${thrown.body.hint}` : '';
    context.out.warn(
      `the server runs, but hands out the client of this platform only: ${messageOf(thrown)}${hint}. Then: ${NEXT}`,
    );
  }
  return null;
};
