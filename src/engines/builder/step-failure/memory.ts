import type { Explanation } from './causes.ts';

/** Programs whose child was killed say so and then exit with a code of their own. */
const KILLED =
  /\(signal: 9, SIGKILL: kill\)|signal: killed|Killed signal terminated program|^Killed$|exit(?:ed with)?(?: code| status)? 137\b|Command failed with signal "?SIGKILL/m;
const REFUSED = /virtual memory exhausted|Cannot allocate memory|std::bad_alloc|^MemoryError/m;

/** Whether the build ran out of memory: killed by the kernel, or at the limit of the language's own heap. */
export const explainMemory = (code: string, text: string, limitBytes: number | undefined): Explanation | undefined => {
  if (/JavaScript heap out of memory/.test(text)) {
    return ownHeap('Node', 'NODE_OPTIONS=--max-old-space-size=4096 as a variable of the project', limitBytes);
  }
  if (/java\.lang\.OutOfMemoryError|Java heap space|GC overhead limit/.test(text)) {
    return ownHeap('Java', 'MAVEN_OPTS=-Xmx2g (for Gradle org.gradle.jvmargs=-Xmx2g in gradle.properties)', limitBytes);
  }
  if (code !== '137' && !KILLED.test(text) && !REFUSED.test(text)) return undefined;
  const limit = limitBytes === undefined ? '' : `: all builds together may use ${megabytes(limitBytes)} MB`;
  return {
    why: `the build ran out of memory${limit}`,
    hint: 'let the build use less memory (fewer parallel jobs, a smaller heap), or give builds more: berth server --build-memory-mb <MB>',
    retryable: false,
  };
};

const ownHeap = (language: string, setting: string, limitBytes: number | undefined): Explanation => ({
  why: `the build ran out of memory at the limit of ${language}'s own heap`,
  hint: `set ${setting}${limitBytes === undefined ? '' : `; all builds together may use ${megabytes(limitBytes)} MB (berth server --build-memory-mb)`}`,
  retryable: false,
});

const megabytes = (bytes: number): number => Math.floor(bytes / 1024 / 1024);
