import type { Example } from '#test/support/examples.ts';

export const cppExamples: Example[] = [
  {
    name: 'cpp-cmake',
    says: '<h1>Hello from C++</h1>',
    edit: { file: 'src/main.cpp', from: 'Hello from C++', to: 'Hello again from C++' },
    install: ['rm -f /etc/apt'],
  },
];
