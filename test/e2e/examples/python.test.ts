import { testExamples } from '#test/support/example-suite.ts';
import { pythonExamples } from './catalogue/python.ts';

testExamples(pythonExamples);
