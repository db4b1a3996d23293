import { expect, test } from 'bun:test';
import { planBuild } from '#engines/builder/detect';
import { treeOf } from '#engines/builder/source-tree';

test('a plain Node app needs one stage', () => {
  const tree = treeOf({
    'package.json': '{"scripts":{"start":"node server.js"},"dependencies":{"express":"^5.0.0"}}',
    'server.js': '',
  });
  const plan = planBuild(tree, { projectEnv: {}, remembered: {}, serviceName: 'web' });
  expect(plan.stages.map((stage) => stage.name)).toEqual(['runtime']);
  expect(plan.start).toEqual(['node', 'server.js']);
});
