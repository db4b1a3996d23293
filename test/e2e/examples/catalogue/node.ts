import type { Example } from '#test/support/examples.ts';

/** The ones that build longest come first: they are all deployed at once. */
export const nodeExamples: Example[] = [
  {
    name: 'node-next',
    says: '<h1>To get started, edit the',
    edit: { file: 'app/page.tsx', from: 'To get started, edit', to: 'To begin, edit' },
    install: ['npm ci'],
  },
  {
    name: 'node-nuxt',
    says: '<h1>Hello from Nuxt</h1>',
    edit: { file: 'app/app.vue', from: 'Hello from Nuxt', to: 'Hello again from Nuxt' },
    install: ['npm install', 'pnpm install'],
  },
  {
    name: 'node-angular',
    says: '<title>NodeAngular</title>',
    path: '/any/page',
    edit: { file: 'src/index.html', from: '<title>NodeAngular', to: '<title>NodeAngular again' },
    install: ['npm install', 'pnpm install'],
  },
  {
    name: 'node-react-router',
    says: '<h1>Hello from React Router</h1>',
    edit: { file: 'app/routes/home.tsx', from: 'Hello from React Router', to: 'Hello again from React Router' },
    install: ['npm install', 'yarn install', 'yarn workspaces focus'],
  },
  {
    name: 'node-sveltekit',
    says: '<h1>Welcome to SvelteKit</h1>',
    edit: { file: 'src/routes/+page.svelte', from: 'Welcome to', to: 'Welcome again to' },
    install: ['npm install', 'pnpm install'],
  },
  {
    name: 'node-nest',
    says: 'Hello World!',
    edit: { file: 'src/app.service.ts', from: 'Hello World!', to: 'Hello again!' },
    install: ['npm install', 'yarn install'],
  },
  {
    name: 'node-astro',
    says: '<h1>Hello from Astro</h1>',
    edit: { file: 'src/pages/index.astro', from: 'Hello from Astro', to: 'Hello again from Astro' },
    install: ['npm install', 'bun install'],
  },
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
    name: 'node-express-postgres',
    says: '<h1>Notes that stay</h1>',
    needs: 'postgres',
    edit: { file: 'server.js', from: 'Notes that stay', to: 'Notes that still stay' },
    install: ['npm ci'],
  },
  {
    name: 'node-express',
    says: '"hello":"from Express"',
    edit: { file: 'server.js', from: 'from Express', to: 'from Express again' },
    install: ['npm ci'],
  },
];
