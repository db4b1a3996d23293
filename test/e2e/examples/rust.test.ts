import { testExamples } from '#test/support/example-suite.ts';
import { rustExamples } from './catalogue/rust.ts';

testExamples(rustExamples);
