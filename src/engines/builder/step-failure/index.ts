import { type Explanation, explainImport, explainNetwork, explainTools } from './causes.ts';
import { usefulTail } from './log-tail.ts';
import { explainMemory } from './memory.ts';
import { findPlace, placeText } from './places.ts';

export { usefulTail };

/** What is known of a step whose command failed. */
export interface FailedCommand {
  exitCode: string;
  /** The last lines of its output. */
  tail: readonly string[];
  /** Memory of all builds together, where it is limited. */
  memoryBytes: number | undefined;
}

/** What explains a failure stands at the beginning of its line; minified code has lines without an end. */
const LONGEST_LINE = 500;

/** The cause of a failed command, in the order in which one explains the other; undefined when its output tells none. */
export const explainFailure = ({ exitCode, tail, memoryBytes }: FailedCommand): Explanation | undefined => {
  const lines = usefulTail(tail).map((line) => line.slice(0, LONGEST_LINE));
  const text = lines.join('\n');
  const early = explainMemory(exitCode, text, memoryBytes) ?? explainTools(text);
  if (early !== undefined) return early;
  const place = findPlace(lines);
  // Go names the import whose download failed: then the network is the cause, not the place.
  const network = place === undefined || place.file.endsWith('.go') ? explainNetwork(text) : undefined;
  if (network !== undefined || place === undefined) return network ?? explainImport(text);
  return {
    why: `${placeText(place)}: ${place.message}`,
    hint: explainImport(place.message)?.hint ?? `correct ${placeText(place)}, then redeploy`,
    retryable: false,
  };
};
