import type { Surface, Tool } from '../tool.ts';
import { datastoreTools, envTools } from './data.ts';
import { changeTools, deployTool, operationTools } from './deploys.ts';
import { logs } from './logs.ts';
import { projectTools } from './projects.ts';
import { repoTools } from './repos.ts';

/** All tools, in the order in which they are listed. */
export const toolsOf = (surface: Surface): readonly Tool[] => [
  ...projectTools,
  deployTool(surface),
  ...operationTools,
  logs,
  ...changeTools,
  ...envTools,
  ...datastoreTools,
  ...repoTools,
];
