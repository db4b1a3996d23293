import { builderContract } from '#test/contracts/builder.ts';
import { bootBuilder } from './support.ts';

builderContract('BuildKit in Docker', bootBuilder);
