import { testExamples } from '#test/support/example-suite.ts';
import { dockerfileExamples } from './catalogue/dockerfile.ts';

testExamples(dockerfileExamples);
