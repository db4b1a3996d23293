import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes `files` below `dir`, and gives the directory back. */
export const writeFiles = (dir: string, files: Record<string, string>): string => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
};

const DOCKERFILE = ['FROM node:24-slim', 'WORKDIR /app', 'COPY . .', 'USER node', 'CMD ["node", "server.js"]', ''].join(
  '\n',
);

/** An app without dependencies whose image builds in a moment. `body` is the handler: `(request, response) => …`. */
export const nodeApp = (handler: string, extra: Record<string, string> = {}): Record<string, string> => ({
  Dockerfile: DOCKERFILE,
  'server.js': `
const http = require('node:http');
const server = http.createServer(${handler});
server.listen(process.env.PORT, '0.0.0.0', () => console.log('listening on ' + process.env.PORT));
process.on('SIGTERM', () => { console.log('got SIGTERM'); server.close(() => process.exit(0)); });
`,
  ...extra,
});

/** Answers `text` to everything. */
export const helloApp = (text: string): Record<string, string> =>
  nodeApp(`(request, response) => response.end(${JSON.stringify(text)})`);

/** An app whose build runs these steps of a Dockerfile, anew each time: a step that the engine remembers says nothing. */
export const builtApp = (steps: readonly string[]): Record<string, string> => ({
  ...helloApp('hello'),
  Dockerfile: [
    'FROM node:24-slim',
    'WORKDIR /app',
    'COPY . .',
    `RUN : ${crypto.randomUUID()}`,
    ...steps,
    'USER node',
    'CMD ["node", "server.js"]',
    '',
  ].join('\n'),
});
