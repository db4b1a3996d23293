import { invalidInput } from '#kernel/errors';
import type { ReleaseManifest } from '#kernel/release-manifest';
import script from './install.sh' with { type: 'text' };

/** What may stand in a shell script between single quotes as the address of a server: nothing that could end them. */
const BASE_URL = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** The installer of the client, for the server at `baseUrl`. */
export const renderInstaller = (baseUrl: string, manifest: ReleaseManifest): string => {
  if (!BASE_URL.test(baseUrl)) {
    throw invalidInput(
      'the Host header is no plain host name',
      'ask by the name of the server: letters, digits, dashes and dots',
    );
  }
  return script
    .replace("BASE_URL='http://berth.invalid'", `BASE_URL='${baseUrl}'`)
    .replace("VERSION='0.0.0'", `VERSION='${manifest.version}'`)
    .replace("CLIENTS=''", `CLIENTS='${clientLines(manifest)}'`);
};

/** `<platform> <bytes> <sha256>`, and both again for its .zst and its .gz; dashes where there is none. */
const clientLines = ({ executables }: ReleaseManifest): string =>
  executables
    .map(({ platform, packed, ...plain }) => {
      const parcels = PACKINGS.map((packing) => packed.find((each) => each.packing === packing));
      return [platform, ...[plain, ...parcels].map((file) => `${file?.bytes ?? '-'} ${file?.sha256 ?? '-'}`)].join(' ');
    })
    .join('\n');

const PACKINGS = ['zstd', 'gzip'] as const;
