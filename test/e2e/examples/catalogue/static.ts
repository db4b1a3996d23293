import type { Example } from '#test/support/examples.ts';

export const staticExamples: Example[] = [
  {
    name: 'static-site',
    says: '<h1>It works</h1>',
    edit: { file: 'index.html', from: 'It works', to: 'It works again' },
    install: ['install -d'],
  },
];
