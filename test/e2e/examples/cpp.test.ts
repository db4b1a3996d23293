import { testExamples } from '#test/support/example-suite.ts';
import { cppExamples } from './catalogue/cpp.ts';

testExamples(cppExamples);
