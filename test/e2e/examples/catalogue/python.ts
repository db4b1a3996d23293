import type { Example } from '#test/support/examples.ts';

export const pythonExamples: Example[] = [
  {
    name: 'python-django',
    says: '<h1>Hello from Django</h1>',
    edit: { file: 'polls/views.py', from: 'from Django', to: 'from Django again' },
    install: ['pip install'],
  },
  {
    name: 'python-fastapi',
    says: '"hello":"from FastAPI"',
    edit: { file: 'main.py', from: 'from FastAPI', to: 'from FastAPI again' },
    install: ['pip install'],
  },
];
