import type { Example } from '#test/support/examples.ts';

export const rubyExamples: Example[] = [
  {
    name: 'ruby-server',
    says: '<h1>Hello from Ruby</h1>',
    edit: { file: 'views/home.erb', from: 'Hello from Ruby', to: 'Hello again from Ruby' },
    install: ['bundle install'],
  },
];
