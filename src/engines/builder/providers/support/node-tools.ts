import type { Step } from '../../plan.ts';

/** Node and npm for builds in other languages that make their assets with them. */
export const nodeTools = (version: string): Step[] => {
  const image = `node:${version}-slim`;
  return [
    { kind: 'copy', from: image, sources: ['/usr/local/bin/node'], target: '/usr/local/bin/node' },
    {
      kind: 'copy',
      from: image,
      sources: ['/usr/local/lib/node_modules/npm/'],
      target: '/usr/local/lib/node_modules/npm/',
    },
    {
      kind: 'run',
      command:
        'ln -sf ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && ln -sf ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx',
    },
  ];
};
