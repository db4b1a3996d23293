import { describe, expect, test } from 'bun:test';
import { refuseEscapes } from '#engines/builder/buildkit-escapes';
import { BerthError } from '#kernel/errors';

const outcome = (text: string): string => {
  try {
    refuseEscapes(text);
    return 'accepted';
  } catch (thrown) {
    if (!(thrown instanceof BerthError)) throw thrown;
    expect(thrown.kind).toBe('INVALID_INPUT');
    return thrown.message;
  }
};

describe('refused is', () => {
  const cases: [string, string, RegExp][] = [
    ["the host's network", 'FROM x\nRUN --network=host id', /^line 2 .* network "host"/],
    ['an unknown network', 'RUN --network=container:abc id', /network "container:abc"/],
    ['a network that only the build knows', 'RUN --network=$NET id', /network/],
    ['the insecure mode', 'RUN --security=insecure id', /security mode "insecure"/],
    ['a device', 'RUN --device=vendor.com/gpu id', /device/],
    ['an ssh agent', 'RUN --mount=type=ssh git clone x', /ssh agent/],
    ['an ssh agent behind other options', 'RUN --mount=id=x,type=ssh,required=true id', /ssh agent/],
    ['a mount of a type that only the build knows', 'RUN --mount=type=$T id', /ssh agent/],
    ['a second flag', 'RUN --mount=type=cache,target=/x --network=host id', /network/],
    ['any case', 'run --NETWORK=HOST id', /network/],
    ['an ONBUILD trigger', 'ONBUILD RUN --network=host id', /network/],
    ['a continued line', 'RUN \\\n  --network=host id', /^line 1 /],
    ['a continued line with comments in it', 'RUN \\\n# a comment\n\n  --network=host id', /network/],
    ['a keyword that is continued', 'RU\\\nN --network=host id', /network/],
    ['a flag that is continued', 'RUN --net\\\nwork=host id', /network/],
    ['a flag with an escape in it', 'RUN --net\\work=host id', /network/],
    ['a quoted value', 'RUN --network="host" id', /network/],
    ['another escape character', '# escape=`\nFROM x\nRUN `\n --network=host id', /network/],
    ['Windows line ends', 'FROM x\r\nRUN \\\r\n --network=host id\r\n', /network/],
    ['indentation', 'FROM x\n\t RUN\t--network=host id', /network/],
    ['what seems to continue the line before', 'RUN cat <<EOF\nx \\\nEOF\nRUN --network=host id', /^line 4 /],
    [
      'a network behind many flags',
      `RUN ${'--mount=type=cache,target=/x '.repeat(500)}--network=host id`,
      /too many flags/,
    ],
    ['spaces without end', `RUN ${' '.repeat(9000)}--network=host id`, /network|too many/],
    ['JSON, which names a frontend for later BuildKits', '{"syntax": "evil/frontend"}', /^line 1 .* JSON/],
    ['JSON with escapes', '#!/x\n\n {"\\u0073yntax": "evil/frontend"}', /^line 3 .* JSON/],
    ['JSON behind a byte order mark', '\uFEFF{"syntax": "evil/frontend"}', /JSON/],
  ];
  test.each(cases)('%s', (_what, text, message) => expect(outcome(text)).toMatch(message));
});

describe('accepted is', () => {
  const cases: [string, string][] = [
    ['an ordinary Dockerfile', 'FROM node:24\nWORKDIR /app\nCOPY . .\nRUN npm ci && npm run build\nCMD ["node", "x"]'],
    ['a cache', 'RUN --mount=type=cache,target=/root/.npm npm ci'],
    ['a bind mount', 'RUN --mount=type=bind,source=a,target=/a --mount=type=secret,id=x,required=false id'],
    ['no network', 'RUN --network=none id'],
    ['the default network', 'RUN --network=default id'],
    ['a program that has such a flag', 'RUN docker run --network=host x'],
    ['an echo of it', 'RUN echo RUN --network=host'],
    ['a comment about it', '# RUN --network=host\nFROM x'],
    ['the sandbox', 'RUN --security=sandbox id'],
    ['nothing', ''],
  ];
  test.each(cases)('%s', (_what, text) => expect(outcome(text)).toBe('accepted'));
});

test('a hostile text takes no long time', () => {
  const begun = performance.now();
  for (const line of ['R\\', 'RUN \\', 'RUN --a=\\', 'ONBUILD \\', 'RUN\\\n#']) outcome(`${line}\n`.repeat(20_000));
  outcome(`${'RUN \\\n'.repeat(2000)}${'#\n'.repeat(50_000)}`);
  outcome(`RUN ${'--mount=type=cache,target=/x '.repeat(5000)}id`);
  outcome(`RUN ${' '.repeat(100_000)}x`);
  expect(performance.now() - begun).toBeLessThan(2000);
});
