import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { originOf } from '#http/origin';
import { route } from '#http/route';
import { notFound, type BerthError } from '#kernel/errors';
import { executableName, PLATFORMS } from '#kernel/platform';
import { MANIFEST } from '#kernel/release-manifest';
import type { Catalogue } from './catalogue.ts';
import { renderInstaller } from './installer.ts';
import { checksumReply, fileReply } from './reply.ts';
import type { Transfers } from './transfers.ts';

export interface DownloadsRoutesDeps {
  catalogue: Catalogue;
  transfers: Transfers;
}

const tag = 'downloads';
const CHECKSUM = '.sha256';

export const downloadsRoutes = ({ catalogue, transfers }: DownloadsRoutesDeps) =>
  new Elysia()
    .get(
      '/install.sh',
      async ({ request }) =>
        new Response(renderInstaller(originOf(request), await catalogue.manifest()), {
          headers: { 'content-type': 'text/x-shellscript; charset=utf-8' },
        }),
      {
        ...route({
          operationId: 'getInstaller',
          capability: 'public',
          tag,
          summary: 'Installs the client',
          page: true,
        }),
      },
    )
    .get('/dl/:file', ({ request, params }) => download({ catalogue, transfers }, request, params.file), {
      params: Type.Object({ file: Type.String() }),
      ...route({
        operationId: 'downloadClient',
        capability: 'public',
        tag,
        summary: 'The client, its checksums and their list',
        page: true,
      }),
    });

const download = async (
  { catalogue, transfers }: DownloadsRoutesDeps,
  request: Request,
  name: string,
): Promise<Response> => {
  if (name === MANIFEST) return Response.json(await catalogue.manifest());
  const wantsChecksum = name.endsWith(CHECKSUM);
  const found = await catalogue.find(wantsChecksum ? name.slice(0, -CHECKSUM.length) : name);
  if (found === undefined) throw await missing(catalogue, name);
  return wantsChecksum ? checksumReply(found.download) : fileReply(request, found, transfers);
};

const missing = async (catalogue: Catalogue, name: string): Promise<BerthError> => {
  const { executables } = await catalogue.manifest();
  const known = PLATFORMS.find((platform) => name.startsWith(executableName(platform)));
  if (known !== undefined && !executables.some(({ platform }) => platform === known)) {
    return notFound(
      `this server has no client for ${known}`,
      'its operator can add it, on the machine of the server: berth server downloads FROM, where FROM has the clients of the same version (another server, a release, or dist/downloads of "bun run build")',
    );
  }
  const names = executables.flatMap((each) => [each.name, ...each.packed.map((packed) => packed.name)]);
  return notFound(
    `there is no download ${name.slice(0, 100)}`,
    `there are: ${[...names, MANIFEST].join(', ')}; each with .sha256 too`,
  );
};
