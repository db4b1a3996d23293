/** Packs a folder as `berth deploy` does, and prints milliseconds, bytes and the largest resident size in megabytes. */
import { readFileSync } from 'node:fs';
import { packSource } from '#cli/pack/pack';
import { walkSource } from '#cli/pack/walk';

const [dir = ''] = process.argv.slice(2);
const begun = performance.now();
let bytes = 0;
for await (const chunk of packSource(await walkSource(dir), () => undefined)) bytes += chunk.byteLength;
const ms = performance.now() - begun;
// Unlike the figure of getrusage, this one does not begin with that of whoever started us.
const peak = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
console.log(JSON.stringify({ ms, bytes, mb: (Number(peak) * 1024) / 1e6 }));
