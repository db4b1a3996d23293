import { setDefaultTimeout } from 'bun:test';
import { builderContract } from '#test/contracts/builder.ts';
import { bootBuilder } from './support.ts';

setDefaultTimeout(60_000);

builderContract('BuildKit in Docker', bootBuilder);
