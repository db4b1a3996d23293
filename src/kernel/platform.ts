/** What berth is compiled for. The names are those of `GET /dl/berth-<os>-<arch>`. */
export const PLATFORMS = ['linux-amd64', 'linux-arm64', 'darwin-amd64', 'darwin-arm64'] as const;
export type Platform = (typeof PLATFORMS)[number];

export const isPlatform = (text: string): text is Platform => (PLATFORMS as readonly string[]).includes(text);

/** The platform of this process; undefined on one that berth is not compiled for. */
export const ownPlatform = (os: string = process.platform, arch: string = process.arch): Platform | undefined => {
  const name = `${os}-${arch === 'x64' ? 'amd64' : arch}`;
  return isPlatform(name) ? name : undefined;
};

export const executableName = (platform: Platform): string => `berth-${platform}`;
