import { stringify } from 'yaml';
import { createRouteTable } from '#http/route-table';
import { DryRunSchema, ErrorBodySchema } from '#kernel/schema';
import { EventSchema } from '#modules/events';
import { AcceptedSchema, OperationSchema } from '#modules/operations';
import { ProjectSchema, ProjectTreeSchema } from '#modules/projects';
import { ReleaseSchema } from '#modules/releases';
import { ReplicaSchema, ServiceDetailSchema, ServiceSchema } from '#modules/services';
import { TokenSchema } from '#modules/tokens';
import { CapacitySchema, HealthSchema } from '../model.ts';
import { operationOf, type SchemaSet, type SourceRoute } from './operation.ts';
import { nameSchemas, referParts } from './schema.ts';

/** The machine-readable specification, as text. */
export interface ApiDocument {
  json(): string;
  yaml(): string;
}

const NAMED = {
  Accepted: AcceptedSchema,
  Capacity: CapacitySchema,
  DryRun: DryRunSchema,
  Error: ErrorBodySchema,
  Event: EventSchema,
  Health: HealthSchema,
  Operation: OperationSchema,
  Project: ProjectSchema,
  ProjectTree: ProjectTreeSchema,
  Release: ReleaseSchema,
  Replica: ReplicaSchema,
  Service: ServiceSchema,
  ServiceDetail: ServiceDetailSchema,
  Token: TokenSchema,
};

/** Describes the routes of the assembled app. Built on first use, and then kept. */
export const createApiDocument = (routes: readonly SourceRoute[], version: string): ApiDocument => {
  let document: Record<string, unknown> | undefined;
  const built = (): Record<string, unknown> => (document ??= buildDocument(routes.filter(isShown), version));
  let json: string | undefined;
  let yaml: string | undefined;
  return {
    json: () => (json ??= JSON.stringify(built())),
    yaml: () => (yaml ??= stringify(built(), { aliasDuplicateObjects: false })),
  };
};

const isShown = (route: SourceRoute): boolean => (route.hooks.detail as { hide?: boolean } | undefined)?.hide !== true;

export const buildDocument = (routes: readonly SourceRoute[], version: string): Record<string, unknown> => {
  const named = nameSchemas(NAMED);
  const components = Object.fromEntries(
    Object.entries(NAMED).map(([name, schema]) => [name, referParts(schema, named)]),
  );
  const schemas: SchemaSet = { named, components };
  return {
    openapi: '3.1.0',
    info: {
      title: 'berth',
      version,
      summary: 'Source in, live URL out.',
      description:
        'Deploys apps on one server with Docker. Long operations reply 202: poll the operation or follow its stream. A guide for agents is at /skill.md.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: tagsOf(routes),
    paths: pathsOf(routes, schemas),
    components: {
      schemas: components,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'a token such as brt_…, see createToken' },
      },
    },
  };
};

const pathsOf = (routes: readonly SourceRoute[], schemas: SchemaSet): Record<string, Record<string, unknown>> => {
  const paths: Record<string, Record<string, unknown>> = {};
  const { entries } = createRouteTable(routes);
  for (const [index, source] of routes.entries()) {
    const entry = entries[index];
    if (entry === undefined) continue;
    const path = source.path.replaceAll(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [source.method.toLowerCase()]: operationOf(source, entry, schemas) };
  }
  return paths;
};

const tagsOf = (routes: readonly SourceRoute[]): { name: string }[] => {
  const names = routes.flatMap((route) => (route.hooks.detail as { tags?: string[] } | undefined)?.tags ?? []);
  return [...new Set(names)].map((name) => ({ name }));
};
