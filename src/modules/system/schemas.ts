import server from '../../../schemas/server.toml.json' with { type: 'json' };
import service from '../../../schemas/berth.toml.json' with { type: 'json' };
import { notFound } from '#kernel/errors';

const SCHEMAS: Record<string, object> = { 'berth.toml.json': service, 'server.toml.json': server };

/** A JSON schema for editors: `#:schema <server>/schema/berth.toml.json` in the first line of the file. */
export const schemaReply = (name: string): Response => {
  const schema = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (schema === undefined) throw notFound('there is no such schema', `there are: ${Object.keys(SCHEMAS).join(', ')}`);
  // Editors that run in a browser fetch it from another origin.
  return Response.json(schema, {
    headers: {
      'content-type': 'application/schema+json',
      'cache-control': 'public, max-age=3600',
      'access-control-allow-origin': '*',
    },
  });
};
