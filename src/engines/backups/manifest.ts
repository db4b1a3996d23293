import { type Static, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { messageOf } from '#kernel/errors';
import { requireBackupName, requireExtension } from './names.ts';
import type { BackupManifest, BackupName } from './port.ts';

const count = Type.Integer({ minimum: 0 });
const text = Type.String({ maxLength: 200 });

const VerificationSchema = Type.Object({ verified_at: text, rows: count, duration_ms: Type.Number({ minimum: 0 }) });

/** What may be believed of a manifest: a file that anyone with access to the folder or bucket could have changed. */
const ManifestSchema = Type.Object({
  format: Type.Literal(1),
  project: text,
  datastore: text,
  key: text,
  extension: text,
  kind: text,
  version: text,
  server: text,
  created_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$' }),
  rows: count,
  objects: Type.Record(Type.String(), count),
  bytes: count,
  plain_bytes: count,
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  encrypted: Type.Union([Type.Null(), Type.String({ pattern: '^age1[0-9a-z]{20,4000}$' })]),
  verification: Type.Union([Type.Null(), VerificationSchema]),
});

const checker = TypeCompiler.Compile(ManifestSchema);

/** Readable, since people look at it when berth is gone. */
export const encodeManifest = (manifest: BackupManifest): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(manifest, null, 2)}\n`);

export type DecodedManifest = { manifest: BackupManifest } | { reason: string };

/** Takes a manifest for `name` apart. What it says of paths is never followed: they come from the name. */
export const decodeManifest = (name: BackupName, bytes: Uint8Array): DecodedManifest => {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (!checker.Check(value)) {
      const first = checker.Errors(value).First();
      return { reason: `not a manifest: ${first?.path ?? ''} ${first?.message ?? ''}` };
    }
    return checked(name, value);
  } catch (thrown) {
    return { reason: messageOf(thrown) };
  }
};

const checked = (name: BackupName, value: Static<typeof ManifestSchema>): DecodedManifest => {
  const inner = requireBackupName(value);
  requireExtension(value.extension);
  if (inner.project !== name.project || inner.datastore !== name.datastore || inner.key !== name.key)
    return { reason: 'it is the manifest of another backup' };
  return { manifest: value };
};
