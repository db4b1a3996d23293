import type { Example } from '#test/support/examples.ts';

export const pythonExamples: Example[] = [
  {
    name: 'python-fastapi',
    says: '"hello":"from FastAPI"',
    edit: { file: 'main.py', from: 'from FastAPI', to: 'from FastAPI again' },
    install: ['pip install'],
  },
];
