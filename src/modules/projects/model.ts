import { Type, type Static } from '@sinclair/typebox';
import { Name, oneOf, Timestamp } from '#kernel/schema';
import { DatastoreSchema } from '#modules/datastores';
import { EventSchema } from '#modules/events';
import { ReleaseSchema } from '#modules/releases';
import { ServiceSchema } from '#modules/services';

export const ProjectSchema = Type.Object({
  name: Name,
  state: oneOf(['active', 'deleting']),
  created_at: Timestamp,
  created_by: Type.String({ description: 'principal of the token that made it' }),
});

export const CreateProjectBody = Type.Object({ name: Name }, { additionalProperties: false });

export const CreateProjectReply = Type.Composite([ProjectSchema, Type.Object({ created: Type.Boolean() })]);

/** The full state tree of a project. */
export const ProjectTreeSchema = Type.Composite([
  ProjectSchema,
  Type.Object({
    services: Type.Array(ServiceSchema),
    releases: Type.Array(ReleaseSchema),
    datastores: Type.Array(DatastoreSchema),
    env_keys: Type.Array(Type.String()),
    recent_events: Type.Array(EventSchema),
  }),
]);

export type Project = Static<typeof ProjectSchema>;
export type ProjectTree = Static<typeof ProjectTreeSchema>;
export type CreateProjectReply = Static<typeof CreateProjectReply>;
