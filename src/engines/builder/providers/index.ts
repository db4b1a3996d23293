import { dockerfile } from './dockerfile.ts';
import { go } from './go/index.ts';
import { jvm } from './jvm/index.ts';
import { node } from './node/index.ts';
import { php } from './php/index.ts';
import { python } from './python/index.ts';
import type { Provider } from './provider.ts';
import { ruby } from './ruby/index.ts';
import { rust } from './rust/index.ts';
import { shell } from './shell.ts';
import { staticSite } from './static.ts';

/** Every provider, in the order in which they are asked. */
export const PROVIDERS: readonly Provider[] = [dockerfile, php, ruby, jvm, node, python, go, rust, staticSite, shell];
