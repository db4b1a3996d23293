import type { Example } from '#test/support/examples.ts';

export const dockerfileExamples: Example[] = [
  {
    name: 'dockerfile-node',
    says: '{"hello":"from a Dockerfile"}',
    edit: { file: 'server.js', from: 'hello: `from', to: 'hello: `again from', says: 'again from a Dockerfile' },
    install: [],
  },
];
