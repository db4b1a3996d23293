import type { Example } from '#test/support/examples.ts';

/** The ones that build longest come first: they are all deployed at once. */
export const nodeExamples: Example[] = [
  {
    name: 'node-vite-pnpm',
    says: '<title>node-vite-pnpm</title>',
    edit: { file: 'index.html', from: '<title>node-vite-pnpm', to: '<title>node-vite-pnpm again' },
    install: ['npm install', 'pnpm install'],
  },
  {
    name: 'bun-hono',
    says: '"hello":"from Hono"',
    edit: { file: 'src/index.ts', from: 'from Hono', to: 'from Hono again' },
    install: ['npm install', 'bun install'],
  },
  {
    name: 'node-express',
    says: '"hello":"from Express"',
    edit: { file: 'server.js', from: 'from Express', to: 'from Express again' },
    install: ['npm ci'],
  },
];
