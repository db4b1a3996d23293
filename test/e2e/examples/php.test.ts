import { testExamples } from '#test/support/example-suite.ts';
import { phpExamples } from './catalogue/php.ts';

testExamples(phpExamples);
