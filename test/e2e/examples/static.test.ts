import { testExamples } from '#test/support/example-suite.ts';
import { staticExamples } from './catalogue/static.ts';

testExamples(staticExamples);
