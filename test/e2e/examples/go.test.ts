import { testExamples } from '#test/support/example-suite.ts';
import { goExamples } from './catalogue/go.ts';

testExamples(goExamples);
