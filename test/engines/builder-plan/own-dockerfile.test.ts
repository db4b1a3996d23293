import { describe, expect, test } from 'bun:test';
import { refuseForeignSyntax } from '#engines/builder/dockerfile-check';
import { readDockerfile } from '#engines/builder/providers/dockerfile';
import { BerthError } from '#kernel/errors';
import { fileOf, planOf } from './support.ts';

describe('a Dockerfile of the user', () => {
  test('its arguments and ports are read as Docker reads them', () => {
    const own = readDockerfile(`# ARG COMMENTED
ARG VERSION=24 OTHER
FROM node:\${VERSION} AS build
ARG \\
  # in between
  TOKEN="a b" \\
  LAST
RUN <<EOF
ARG NOT_ONE
EOF
arg lower='x y'
EXPOSE 3000/tcp 9090
ARG BUILDKIT_SYNTAX=evil
`);
    expect(own).toEqual({
      path: 'Dockerfile',
      declaredArgs: ['LAST', 'OTHER', 'TOKEN', 'VERSION', 'lower'],
      exposedPorts: [3000, 9090],
      syntax: null,
    });
  });

  test('it has no stages and no generated files, and says what has no effect', () => {
    const plan = planOf({
      Dockerfile: 'FROM scratch\nEXPOSE 3000\n',
      'berth.toml': '[build]\nstart = "x"\nrelease = "./migrate"\n',
    });
    expect({ stages: plan.stages, release: plan.releaseCommand }).toEqual({ stages: [], release: ['./migrate'] });
    expect(fileOf(plan, 'berth/Dockerfile')).toBe('');
    expect(plan.warnings).toEqual([
      'the Dockerfile exposes 3000: the app must listen on PORT, which is 8080 unless the project sets PORT=3000',
      '[build] start has no effect: the Dockerfile decides',
    ]);
  });

  test.each(['', '# nothing\n', 'RUN x\n'])('without FROM it is refused: %j', (text) => {
    expect(() => planOf({ Dockerfile: text })).toThrow('the Dockerfile has no FROM instruction');
  });

  test.each([
    '# syntax=evil/frontend\nFROM a',
    '#syntax = evil/frontend:1\nFROM a',
    '# escape=`\n# syntax=evil/frontend\nFROM a',
    '# check=skip=all\n# SYNTAX=docker/dockerfile-evil:1\nFROM a',
    '\uFEFF# syntax=evil/frontend\nFROM a',
    '#!/usr/bin/env x\n# syntax=evil/frontend\nFROM a',
    '// syntax=evil/frontend\nFROM a',
    '{"syntax": "evil/frontend"}\nFROM a',
    '# syntax=docker/dockerfile:1@evil\nFROM a',
    '# syntax=registry.example.com/docker/dockerfile:1\nFROM a',
  ])('a foreign frontend is refused: %j', (text) => {
    expect(() => planOf({ Dockerfile: text })).toThrow(BerthError);
    expect(() => refuseForeignSyntax(text)).toThrow(BerthError);
  });

  test.each([
    ['an official one goes, its line stays', '# syntax=docker/dockerfile:1\nFROM a\n', '#\nFROM a\n'],
    ['directives after it still count', '# syntax=docker/dockerfile:1\n# escape=`\nFROM a', '# escape=`\nFROM a'],
    [
      'it stays where it is needed',
      '# syntax=docker/dockerfile:1\nFROM a\nRUN <<EOF\nx\nEOF\n',
      '# syntax=docker/dockerfile:1\nFROM a\nRUN <<EOF\nx\nEOF\n',
    ],
    [
      'it stays for COPY --link',
      '# syntax=docker/dockerfile:1.7\nFROM a\nCOPY --link a b\n',
      '# syntax=docker/dockerfile:1.7\nFROM a\nCOPY --link a b\n',
    ],
    ['none is none', 'FROM a\n', 'FROM a\n'],
  ])('%s', (_title, text, wanted) => {
    expect(refuseForeignSyntax(text)).toBe(wanted);
  });
});
