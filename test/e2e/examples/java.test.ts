import { testExamples } from '#test/support/example-suite.ts';
import { javaExamples } from './catalogue/java.ts';

testExamples(javaExamples);
