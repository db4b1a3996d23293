import { cppExamples } from './cpp.ts';
import { denoExamples } from './deno.ts';
import { dockerfileExamples } from './dockerfile.ts';
import { goExamples } from './go.ts';
import { javaExamples } from './java.ts';
import { nodeExamples } from './node.ts';
import { phpExamples } from './php.ts';
import { pythonExamples } from './python.ts';
import { rubyExamples } from './ruby.ts';
import { rustExamples } from './rust.ts';
import { staticExamples } from './static.ts';
import type { Example } from '#test/support/examples.ts';

/** Every app of `examples/`, by the provider that builds it. */
export const CATALOGUE: Record<string, Example[]> = {
  cpp: cppExamples,
  deno: denoExamples,
  dockerfile: dockerfileExamples,
  go: goExamples,
  java: javaExamples,
  node: nodeExamples,
  php: phpExamples,
  python: pythonExamples,
  ruby: rubyExamples,
  rust: rustExamples,
  static: staticExamples,
};
