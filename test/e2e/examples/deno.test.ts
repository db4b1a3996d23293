import { testExamples } from '#test/support/example-suite.ts';
import { denoExamples } from './catalogue/deno.ts';

testExamples(denoExamples);
