import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const EXAMPLE = join(import.meta.dir, '../../../examples/node-express');
const GREETING = "'from Express'";

/**
 * The example app with one line changed: it answers with `marker`, and with what tells one process from the next, so
 * that a restarted one is known.
 */
export const expressApp = (marker: string): Record<string, string> => {
  const read = (name: string): string => readFileSync(join(EXAMPLE, name), 'utf8');
  const server = read('server.js');
  if (server.split(GREETING).length !== 2) throw new Error(`the example greets with ${GREETING} no longer`);
  return {
    'package.json': read('package.json'),
    'package-lock.json': read('package-lock.json'),
    'server.js': server.replace(GREETING, `'${marker} ' + performance.timeOrigin`),
  };
};

/** A Dockerfile as a careful user would write it for that app; it has the shape of what berth generates. */
export const expressDockerfile = (cache: string): string =>
  [
    'FROM node:24-slim',
    'COPY --chown=1000:1000 package.json package-lock.json /app/',
    'WORKDIR /app',
    `RUN --mount=type=cache,id=${cache},target=/root/.npm npm ci --omit=dev --no-audit --no-fund`,
    'COPY --chown=1000:1000 . /app/',
    'ENV NODE_ENV=production PORT=8080',
    'USER node',
    'EXPOSE 8080',
    'CMD ["node", "server.js"]',
    '',
  ].join('\n');
