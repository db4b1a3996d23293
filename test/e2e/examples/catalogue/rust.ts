import type { Example } from '#test/support/examples.ts';

/** The one that builds longest comes first. */
export const rustExamples: Example[] = [
  {
    name: 'rust-rocket',
    says: '"from":"from Rocket"',
    path: '/hello/you',
    edit: { file: 'src/main.rs', from: 'from Rocket', to: 'from Rocket again' },
    install: ['(dependencies)'],
    compiles: /Compiling (rocket|tokio|serde)\b/,
  },
  {
    name: 'rust-axum',
    says: '{"hello":"from axum"}',
    edit: { file: 'src/main.rs', from: 'from axum', to: 'from axum again' },
    install: ['(dependencies)'],
    compiles: /Compiling (axum|tokio|serde)\b/,
  },
];
