import { testExamples } from '#test/support/example-suite.ts';
import { rubyExamples } from './catalogue/ruby.ts';

testExamples(rubyExamples);
