import { Type, type Static } from '@sinclair/typebox';
import { ErrorBodySchema, Name, nullable, Timestamp } from '#kernel/schema';

/** Branch names as git takes them; what else git refuses is told by git. */
const Branch = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\s~^:?*\\[\\\\\\x00-\\x1f\\x7f]+$' });
const Folder = Type.String({
  minLength: 1,
  maxLength: 400,
  pattern: '^(?!/)(?!.*(?:^|/)\\.\\.?(?:/|$))[^\\x00-\\x1f\\x7f\\\\]+$',
  description: 'folder that is deployed, relative to the root of the repository',
});

const settings = {
  deploy_service: nullable({ ...Name, description: 'service that a push to deploy_branch deploys' }),
  deploy_branch: nullable({ ...Branch, description: 'the default branch when null' }),
  root: nullable(Folder),
  preview: Type.Boolean({
    description: 'deploy every other branch as <service>-<branch>, and delete it with the branch',
  }),
};

export const RepoSchema = Type.Object({
  project: Name,
  name: Name,
  clone_url: Type.String({ description: 'any user name, the bearer token as password' }),
  default_branch: Branch,
  ...settings,
  mirror_of: nullable(Type.String()),
  webhook_url: nullable(Type.String({ description: 'where the mirrored address sends its push webhooks' })),
  mirrored_at: nullable(Timestamp),
  mirror_error: nullable(ErrorBodySchema),
  empty: Type.Boolean({ description: 'nothing was pushed yet' }),
  size_bytes: Type.Integer(),
  pushed_at: nullable(Timestamp),
  created_at: Timestamp,
  created_by: Type.String(),
  updated_at: Timestamp,
});

const Credential = Type.Object(
  { user: Type.String({ maxLength: 200 }), password: Type.String({ minLength: 1, maxLength: 4096 }) },
  { additionalProperties: false, description: 'for the mirrored address; stored encrypted, never returned' },
);

export const CreateRepoBody = Type.Object(
  {
    name: Name,
    default_branch: Type.Optional(Branch),
    deploy_service: Type.Optional(settings.deploy_service),
    deploy_branch: Type.Optional(settings.deploy_branch),
    root: Type.Optional(settings.root),
    preview: Type.Optional(settings.preview),
    mirror_of: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2000, description: 'https URL of a repository elsewhere' }),
    ),
    mirror_credential: Type.Optional(nullable(Credential)),
    webhook_secret: Type.Optional(Type.String({ minLength: 8, maxLength: 200 })),
  },
  { additionalProperties: false },
);

export const CreateRepoReply = Type.Composite([
  RepoSchema,
  Type.Object({
    created: Type.Boolean(),
    webhook_secret: nullable(Type.String({ description: 'of a mirror, in this reply only' })),
  }),
]);

export const UpdateRepoReply = Type.Composite([
  RepoSchema,
  Type.Object({
    webhook_secret: nullable(Type.String({ description: 'one that was made for a new mirror, in this reply only' })),
  }),
]);

export const UpdateRepoBody = Type.Object(
  {
    name: Type.Optional(Name),
    default_branch: Type.Optional(Branch),
    deploy_service: Type.Optional(settings.deploy_service),
    deploy_branch: Type.Optional(settings.deploy_branch),
    root: Type.Optional(settings.root),
    preview: Type.Optional(settings.preview),
    mirror_of: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 2000 }))),
    mirror_credential: Type.Optional(nullable(Credential)),
    webhook_secret: Type.Optional(Type.String({ minLength: 8, maxLength: 200 })),
  },
  { additionalProperties: false, minProperties: 1 },
);

export type Repo = Static<typeof RepoSchema>;
export type CreateRepo = Static<typeof CreateRepoBody>;
export type CreatedRepo = Static<typeof CreateRepoReply>;
export type UpdateRepo = Static<typeof UpdateRepoBody>;
export type UpdatedRepo = Static<typeof UpdateRepoReply>;
