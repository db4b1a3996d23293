import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { PLATFORMS } from './platform.ts';
import { oneOf } from './schema.ts';

const FileSchema = {
  name: Type.String({ pattern: '^berth-[a-z0-9]+-[a-z0-9]+(?:\\.[a-z]+)?$' }),
  bytes: Type.Integer({ minimum: 1 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
};

/** What lists the executables, in their folder. */
export const MANIFEST = 'manifest.json';

export const PACKINGS = { gzip: 'gz', zstd: 'zst' } as const;
export type Packing = keyof typeof PACKINGS;

const ExecutableSchema = Type.Object({
  ...FileSchema,
  platform: oneOf(PLATFORMS),
  /** The same file compressed. */
  packed: Type.Array(Type.Object({ ...FileSchema, packing: oneOf(['gzip', 'zstd'] as const) })),
});

/** The executables of one version with their checksums: `manifest.json` beside them, and `GET /dl/manifest.json`. */
export const ReleaseManifestSchema = Type.Object({
  version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+(?:[-+][0-9A-Za-z.+-]+)?$' }),
  executables: Type.Array(ExecutableSchema),
});

export type ReleaseManifest = Static<typeof ReleaseManifestSchema>;
export type ReleaseExecutable = ReleaseManifest['executables'][number];

/** Undefined when the value is no manifest. */
export const asReleaseManifest = (value: unknown): ReleaseManifest | undefined =>
  Value.Check(ReleaseManifestSchema, value) ? value : undefined;
