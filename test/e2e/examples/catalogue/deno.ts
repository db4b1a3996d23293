import type { Example } from '#test/support/examples.ts';

export const denoExamples: Example[] = [
  {
    name: 'deno-hono',
    says: '<h1>Hello from Deno</h1>',
    edit: { file: 'app.tsx', from: 'Hello from Deno', to: 'Hello again from Deno' },
    install: ['npm install', 'deno install'],
  },
];
