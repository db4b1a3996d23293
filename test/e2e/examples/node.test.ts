import { testExamples } from '#test/support/example-suite.ts';
import { nodeExamples } from './catalogue/node.ts';

testExamples(nodeExamples);
