#!/usr/bin/env bun
/**
 * Bundles the dashboard into dist/web.
 *   bun scripts/web.ts         as it goes into the executable
 *   bun scripts/web.ts --dev   readable, with the page of primitives at /_ui
 */
import { parseArgs } from 'node:util';
import { buildWeb } from './build/web.ts';

const { values } = parseArgs({ options: { dev: { type: 'boolean', default: false } } });
const begun = performance.now();
const { page, assets } = await buildWeb('dist/web', { development: values.dev });
for (const { path, bytes, gzip, brotli } of [page, ...assets])
  console.log(`${path}  ${bytes} bytes  gzip ${gzip ?? '-'}  brotli ${brotli ?? '-'}`);
console.log(`${((performance.now() - begun) / 1000).toFixed(1)} s`);
