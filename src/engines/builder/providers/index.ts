import { dockerfile } from './dockerfile.ts';
import { node } from './node/index.ts';
import type { Provider } from './provider.ts';
import { shell } from './shell.ts';
import { staticSite } from './static.ts';

/** Every provider, in the order in which they are asked. */
export const PROVIDERS: readonly Provider[] = [dockerfile, node, staticSite, shell];
