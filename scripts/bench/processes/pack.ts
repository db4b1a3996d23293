/** Packs a folder as `berth deploy` does, and prints milliseconds, bytes and the largest resident size in megabytes. */
import { packSource } from '#cli/pack/pack';
import { walkSource } from '#cli/pack/walk';

const [dir = ''] = process.argv.slice(2);
const begun = performance.now();
let bytes = 0;
for await (const chunk of packSource(await walkSource(dir), () => undefined)) bytes += chunk.byteLength;
const ms = performance.now() - begun;
console.log(JSON.stringify({ ms, bytes, mb: process.resourceUsage().maxRSS / 1024 }));
