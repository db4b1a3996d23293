import { NETWORK_CAUSES } from './causes-network.ts';
import { IMPORT_CAUSE, TOOL_CAUSES } from './causes-tools.ts';

/** Why a step failed, as far as its output tells, and what to do about it. */
export interface Explanation {
  why: string;
  hint: string;
  /** Whether the same build may succeed when it is started again. */
  retryable: boolean;
}

/** One way in which builds fail, told by what tools print. */
export interface Cause {
  patterns: RegExp[];
  why: (match: RegExpExecArray) => string;
  hint: (match: RegExpExecArray) => string;
  retryable?: boolean;
}

/** What the tools of a build say about themselves: lock files, missing programs, versions. */
export const explainTools = (text: string): Explanation | undefined => explain(TOOL_CAUSES, text);

/** What keeps a build from getting its packages: names, certificates, credentials. */
export const explainNetwork = (text: string): Explanation | undefined => explain(NETWORK_CAUSES, text);

/** Imports that are spelt wrong, or not committed. */
export const explainImport = (text: string): Explanation | undefined => explain([IMPORT_CAUSE], text);

const explain = (causes: readonly Cause[], text: string): Explanation | undefined => {
  for (const { patterns, why, hint, retryable = false } of causes) {
    const match = patterns.map((pattern) => pattern.exec(text)).find((found) => found !== null);
    if (match) return { why: why(match), hint: hint(match), retryable };
  }
  return undefined;
};
