import type { Example } from '#test/support/examples.ts';

export const rustExamples: Example[] = [
  {
    name: 'rust-axum',
    says: '{"hello":"from axum"}',
    edit: { file: 'src/main.rs', from: 'from axum', to: 'from axum again' },
    install: [],
    compiles: /Compiling (axum|tokio|serde)\b/,
  },
];
