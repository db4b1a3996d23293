import type { BunPlugin } from 'bun';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Examples that the page offers: few, and small enough to travel with it. */
const OFFERED = ['static-site', 'node-express', 'python-fastapi', 'go-http', 'bun-hono', 'dockerfile-node'] as const;

/** Never part of an example: what deploying it from here left. */
const LEFT_OUT = new Set(['.service', 'node_modules']);

const filesOf = (root: string, folder = ''): Record<string, string> => {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory()) Object.assign(files, filesOf(root, path));
    else files[path] = readFileSync(join(root, path), 'utf8');
  }
  return files;
};

/** Makes `berth:examples` the files of the examples, by name: `Record<string, Record<string, string>>`. */
export const examplesPlugin: BunPlugin = {
  name: 'examples',
  setup: (build) => {
    build.onResolve({ filter: /^berth:examples$/ }, () => ({ path: 'examples', namespace: 'berth' }));
    build.onLoad({ filter: /^examples$/, namespace: 'berth' }, () => ({
      contents: JSON.stringify(Object.fromEntries(OFFERED.map((name) => [name, filesOf(`examples/${name}`)]))),
      loader: 'json',
    }));
  },
};
