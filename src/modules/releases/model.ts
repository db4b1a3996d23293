import { Type, type Static } from '@sinclair/typebox';
import { Name, nullable, Timestamp } from '#kernel/schema';

export const ReleaseSchema = Type.Object({
  id: Type.String({
    description: '`rel_` and the first 12 hex digits of the manifest digest',
    examples: ['rel_3f2a9c01b7de'],
  }),
  project: Name,
  service: Name,
  digest: Type.String({ description: 'digest of the image manifest' }),
  size_bytes: Type.Integer({ description: 'size of the compressed image' }),
  provider: Type.String({ description: 'what built it: dockerfile, node, python, …' }),
  source_sha256: nullable(Type.String({ description: 'digest of the uploaded archive' })),
  commit: nullable(Type.String()),
  start_command: nullable(
    Type.Array(Type.String(), {
      description:
        'words of the command that its replicas run; null when the image has one of its own, or it is not known',
    }),
  ),
  operation_id: Type.String({ description: 'the deploy that first made it' }),
  created_at: Timestamp,
  created_by: Type.String(),
  live: Type.Boolean(),
});

const Value = Type.Unknown({ description: 'any JSON value; null: not there' });

export const ComparisonSchema = Type.Object({
  from: ReleaseSchema,
  to: ReleaseSchema,
  changes: Type.Array(
    Type.Object({
      what: Type.String({
        description: 'a field of the release, or one of how it was built (`build.versions`)',
        examples: ['commit'],
      }),
      from: Value,
      to: Value,
    }),
  ),
  env: nullable(
    Type.Object(
      { added: Type.Array(Type.String()), removed: Type.Array(Type.String()) },
      { description: 'names of the environment as each was made; null when that is not known of both' },
    ),
  ),
});

export type Comparison = Static<typeof ComparisonSchema>;
export type Release = Static<typeof ReleaseSchema>;
