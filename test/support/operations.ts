import { createWorld } from '#test/app/world.ts';

interface OpenApi {
  paths: Record<string, Record<string, { operationId: string }>>;
}

/** The OpenAPI document as the assembled app serves it. */
export const openApiDocument = async (): Promise<OpenApi> =>
  (await createWorld().call('GET /v1/openapi', { token: null })).body as OpenApi;

/** The operationId of every operation of the API. */
export const operationIds = async (): Promise<string[]> =>
  Object.values((await openApiDocument()).paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );

/**
 * Operations that a surface (commands, tools) does not reach. `exempt`: those that make no sense there, each with the
 * reason.
 */
export const missingFrom = (
  reached: ReadonlySet<string>,
  ids: readonly string[],
  exempt: Readonly<Record<string, string>> = {},
): string[] => ids.filter((id) => !reached.has(id) && !Object.hasOwn(exempt, id));

/** What a surface claims to reach, and the API does not have. */
export const unknownIn = (reached: ReadonlySet<string>, ids: readonly string[]): string[] =>
  [...reached].filter((id) => !ids.includes(id));
