import { serveGit } from '#test/support/git-serve.ts';

/** A server that can be killed: `git-server.ts <dir>`; prints its port. */
const [dir = ''] = process.argv.slice(2);
const server = serveGit({ dir });
if ((await server.git.list()).length === 0) await server.git.create('site', 'main');
console.log(server.port);
