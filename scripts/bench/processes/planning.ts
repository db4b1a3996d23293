/** Reads and plans a source once, and prints how many milliseconds that took. */
import { planBuild } from '#engines/builder/detect';
import { readSourceTree } from '#engines/builder/source-tree-read';
import { BerthError } from '#kernel/errors';

const [dir = ''] = process.argv.slice(2);
const begun = performance.now();
try {
  planBuild(readSourceTree(dir), { projectEnv: {}, remembered: {}, serviceName: 'web' });
} catch (error) {
  // A refusal looks at as much of the source as a plan does.
  if (!(error instanceof BerthError)) throw error;
}
console.log(performance.now() - begun);
