import { clojure } from './clojure.ts';
import { cpp } from './cpp/index.ts';
import { crystal } from './crystal.ts';
import { dart } from './dart.ts';
import { deno } from './deno/index.ts';
import { dockerfile } from './dockerfile.ts';
import { dotnet } from './dotnet/index.ts';
import { elixir } from './elixir/index.ts';
import { gleam } from './gleam.ts';
import { go } from './go/index.ts';
import { haskell } from './haskell.ts';
import { jvm } from './jvm/index.ts';
import { node } from './node/index.ts';
import { php } from './php/index.ts';
import { python } from './python/index.ts';
import type { Provider } from './provider.ts';
import { ruby } from './ruby/index.ts';
import { rust } from './rust/index.ts';
import { shell } from './shell.ts';
import { staticSite } from './static.ts';
import { swift } from './swift.ts';
import { zig } from './zig.ts';

/** Every provider, in the order in which they are asked. */
export const PROVIDERS: readonly Provider[] = [
  dockerfile,
  deno,
  php,
  ruby,
  jvm,
  node,
  python,
  go,
  rust,
  dotnet,
  elixir,
  gleam,
  cpp,
  zig,
  crystal,
  dart,
  swift,
  haskell,
  clojure,
  staticSite,
  shell,
];
