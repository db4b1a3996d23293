import type { Example } from '#test/support/examples.ts';

export const goExamples: Example[] = [
  {
    name: 'go-http',
    says: '"hello":"from Go"',
    edit: { file: 'main.go', from: 'from Go', to: 'from Go again' },
    install: [],
    compiles: /go: downloading/,
  },
];
