import type { Example } from '#test/support/examples.ts';

export const goExamples: Example[] = [
  {
    name: 'go-chi',
    says: '<li>Hello from chi</li>',
    edit: { file: 'internal/notes/notes.go', from: 'Hello from chi', to: 'Hello again from chi' },
    install: ['go mod download'],
    compiles: /go: downloading/,
  },
  {
    name: 'go-http',
    says: '"hello":"from Go"',
    edit: { file: 'main.go', from: 'from Go', to: 'from Go again' },
    install: [],
    compiles: /go: downloading/,
  },
];
