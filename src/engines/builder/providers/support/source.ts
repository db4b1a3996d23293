import { SOURCE_PREFIX } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';

/** The place of an app's file in the build context; the app's folder itself for an empty path. */
export const sourceOf = (app: Dir, path = ''): string =>
  [SOURCE_PREFIX, app.path, path].filter((part) => part !== '').join('/');
