/** The least that an API server in Bun can do: find one row, send it. */
import { Database } from 'bun:sqlite';
import { endWithParent, readOptions, ready } from '../kit/process-side.ts';

export interface BareApiOptions {
  port: number;
  name: string;
  payload: string;
}

const { port, name, payload } = readOptions() as BareApiOptions;
const db = new Database(':memory:');
db.run('CREATE TABLE projects (name TEXT PRIMARY KEY, payload TEXT NOT NULL) STRICT');
db.run('INSERT INTO projects VALUES (?, ?)', [name, payload]);
const read = db.query<{ payload: string }, [string]>('SELECT payload FROM projects WHERE name = ?');

Bun.serve({
  hostname: '127.0.0.1',
  port,
  routes: {
    '/v1/projects/:project': ({ params }) => {
      const row = read.get(params.project);
      if (row === null) return new Response('', { status: 404 });
      return new Response(row.payload, { headers: { 'content-type': 'application/json' } });
    },
  },
});
endWithParent();
ready();
